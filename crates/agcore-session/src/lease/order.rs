//! The order in which runs are claimed.

use std::{cmp::Ordering, collections::HashMap};

use agcore_chat::{Text, Timestamp};
use serde::{Deserialize, Serialize};

use super::state::LeaseState;
use crate::{error::SessionError, run_status::RunStatus};

/// The share of a tenant in all workers.
///
/// ```
/// use agcore_session::TenantShare;
///
/// // Twice as many runs as a tenant with the weight 1, but never more than 50 at a time.
/// let share = TenantShare::new(2).with_ceiling(50);
/// share.check()?;
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TenantShare {
    /// The weight, from 1 to 1000: while several tenants wait, they have runs in this proportion.
    pub weight: u32,
    /// The maximum number of runs that workers have at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<u32>,
}

/// The runs of a tenant that workers have, and its share. For implementations of [`RunLeases`](crate::RunLeases).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TenantLoad {
    /// The number of runs with a lease that holds.
    pub held: u64,
    /// The share.
    pub share: TenantShare,
}

/// A run among those of its session. For implementations of [`RunLeases`](crate::RunLeases).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RunTurn<'r> {
    /// The place in the order in which the runs of the session were first stored.
    pub number: u64,
    /// The status.
    pub status: RunStatus,
    /// The state of the lease.
    pub lease: &'r LeaseState,
}

/// A run that could be claimed. For implementations of [`RunLeases`](crate::RunLeases).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClaimCandidate<K> {
    /// The key by which the store finds the run.
    pub key: K,
    /// The tenant.
    pub tenant: Text,
    /// The [place](LeaseState::due) among the runs of the tenant. Those with the same place keep their order.
    pub due: i64,
}

impl Default for TenantShare {
    /// Returns the weight 1 without a ceiling.
    fn default() -> Self {
        Self::new(1)
    }
}

impl TenantShare {
    /// Creates a share without a ceiling.
    pub const fn new(weight: u32) -> Self {
        Self { weight, ceiling: None }
    }

    /// Sets the maximum number of runs that workers have at a time. With 0, no worker takes a run of the tenant.
    #[must_use]
    pub const fn with_ceiling(mut self, runs: u32) -> Self {
        self.ceiling = Some(runs);
        self
    }

    /// Checks that every store can keep the share.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the weight is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        match self.weight {
            1..=1000 => Ok(()),
            weight => Err(SessionError::invalid(format!(
                "the weight {weight} is not acceptable; use 1 to 1000"
            ))),
        }
    }
}

impl TenantLoad {
    /// Creates the load of a tenant.
    pub const fn new(held: u64, share: TenantShare) -> Self {
        Self { held, share }
    }
}

impl<'r> RunTurn<'r> {
    /// Creates a run among those of its session.
    pub const fn new(number: u64, status: RunStatus, lease: &'r LeaseState) -> Self {
        Self { number, status, lease }
    }

    /// Returns whether a worker may take the run, given the other runs of its session.
    ///
    /// A session has one holder at a time. It keeps its turn until the run is over or released, also when its lease has expired:
    /// then the same run is claimed again. Runs that have started come before those that have not, and older ones before newer
    /// ones.
    pub fn may_be_claimed(self, others: impl IntoIterator<Item = Self>, now: Timestamp) -> bool {
        self.lease.is_claimable(self.status, now)
            && (self.lease.holder.is_some() || !others.into_iter().any(|other| other.blocks(self, now)))
    }

    /// Returns whether another run of the session has to wait for this one.
    fn blocks(self, other: RunTurn<'_>, now: Timestamp) -> bool {
        let is_older = self.number < other.number;
        match (self.status, other.status) {
            (status, _) if !status.is_workable() => false,
            _ if self.lease.holder.is_some() => true,
            (RunStatus::Running, RunStatus::Running) => is_older,
            (RunStatus::Running, _) => true,
            (_, RunStatus::Running) => false,
            _ => is_older && self.lease.is_ready(now),
        }
    }
}

impl<K> ClaimCandidate<K> {
    /// Creates a candidate.
    pub fn new(key: K, tenant: impl Into<Text>, due: i64) -> Self {
        Self {
            key,
            tenant: tenant.into(),
            due,
        }
    }

    /// Returns the candidates in the order in which they are to be claimed, without those above the ceiling of their tenant.
    ///
    /// The n-th run of a tenant that has h runs already is at the place (h + n) / weight, so that a tenant with many waiting runs
    /// waits behind itself only.
    pub fn order(mut candidates: Vec<Self>, load: impl Fn(&str) -> TenantLoad) -> Vec<Self> {
        candidates.sort_by_key(|candidate| candidate.due);
        let mut counts: HashMap<Text, (TenantLoad, u64)> = HashMap::new();
        let mut placed = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let (load, count) = counts
                .entry(candidate.tenant.clone())
                .or_insert_with(|| (load(&candidate.tenant), 0));
            *count += 1;
            let (place, share) = (load.held + *count, load.share);
            if share.ceiling.is_none_or(|ceiling| place <= u64::from(ceiling)) {
                placed.push((place, share.weight.max(1), candidate));
            }
        }
        placed.sort_by(|one, other| compare((one.0, one.1), (other.0, other.1)).then(one.2.due.cmp(&other.2.due)));
        placed.into_iter().map(|(_, _, candidate)| candidate).collect()
    }
}

/// Compares two places, each divided by its weight.
fn compare(one: (u64, u32), other: (u64, u32)) -> Ordering {
    let scaled = |place: u64, weight: u32| u128::from(place) * u128::from(weight);
    scaled(one.0, other.1).cmp(&scaled(other.0, one.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenants_have_runs_in_the_proportion_of_their_weights() {
        let flood = (0..10).map(|number| ClaimCandidate::new(number, "flood", number));
        let few = (10..13).map(|number| ClaimCandidate::new(number, "few", number));
        let load = |tenant: &str| match tenant {
            "flood" => TenantLoad::new(1, TenantShare::new(1).with_ceiling(5)),
            _ => TenantLoad::new(0, TenantShare::new(2)),
        };
        let order = ClaimCandidate::order(flood.chain(few).collect(), load);
        let keys: Vec<i64> = order.into_iter().map(|candidate| candidate.key).collect();
        // The places are 2, 3, 4, 5 of one, and 0.5, 1, 1.5 of the other.
        assert_eq!(keys, [10, 11, 12, 0, 1, 2, 3]);
    }
}
