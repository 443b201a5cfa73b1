//! [`LeaseState`]: when a run has its turn, and which worker has it.

use agcore_chat::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    claim::ClaimRequest,
    renewal::{Release, ReleaseReason},
};
use crate::run_status::RunStatus;

/// The waiting time in milliseconds that one step of the priority is worth.
const AGING: i64 = 10_000;

/// When a run has its turn, and which worker has it.
///
/// All times are those of the database: the server's for PostgreSQL, and that of the clock of the store otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LeaseState {
    /// The priority: of two runs of a tenant that began to wait at the same time, the one with the smaller number comes first. Each
    /// step is worth ten seconds of waiting, so that a run with a large number waits longer, but not for ever.
    pub priority: i16,
    /// The time since which the run waits.
    pub queued_at: Timestamp,
    /// The time before which no worker takes the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// How often the run was claimed since it was queued, without the claims that were [released](ReleaseReason::GivenBack).
    pub attempts: u32,
    /// The number of the last claim. It only grows.
    pub epoch: u64,
    /// The id that the holder of the lease has chosen for its claim. It stays when the lease expires or the run is over, and is
    /// removed when the lease is released, or when the run waits for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// The name of the worker that has claimed the run last, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The time until which the lease holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
    /// The time at which somebody has asked to cancel the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_requested_at: Option<Timestamp>,
    /// The time at which the run became a [dead letter](crate::DeadLetter).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_at: Option<Timestamp>,
}

impl LeaseState {
    /// Returns the state of a new run.
    pub fn new(priority: i16, not_before: Option<Timestamp>, now: Timestamp) -> Self {
        Self {
            priority,
            queued_at: now,
            not_before,
            ..Self::default()
        }
    }

    /// Returns whether a worker with a lease of this epoch may write for the run: the guard of every fenced write.
    pub fn permits(&self, status: RunStatus, epoch: u64, now: Timestamp) -> bool {
        self.epoch == epoch && self.is_held(status, now)
    }

    /// Returns whether a worker has the run.
    pub fn is_held(&self, status: RunStatus, now: Timestamp) -> bool {
        status.is_workable() && self.holder.is_some() && self.lease_until.is_some_and(|until| until > now)
    }

    /// Returns whether a worker may take the run, if its session allows it: it is queued, was released, or its lease has
    /// expired. A run that is running without ever having had a lease is driven by a program without leases.
    pub fn is_claimable(&self, status: RunStatus, now: Timestamp) -> bool {
        let is_free = match &self.holder {
            Some(_) => !self.is_held(status, now),
            None => status == RunStatus::Queued || self.epoch > 0,
        };
        status.is_workable() && is_free && self.is_ready(now)
    }

    /// Returns whether the run waits for a worker or has one, and counts for the [limits](crate::RunLimits). A run that is running
    /// without ever having had a lease is driven by a program without leases.
    pub fn counts(&self, status: RunStatus) -> bool {
        status == RunStatus::Queued || (status == RunStatus::Running && self.epoch > 0)
    }

    /// Returns whether the time before which no worker takes the run has come.
    pub fn is_ready(&self, now: Timestamp) -> bool {
        self.not_before.is_none_or(|time| time <= now)
    }

    /// Returns the place of the run among those of its tenant, in milliseconds: the time since which it waits, later by ten seconds
    /// for each step of the priority. It does not change while the run waits, so that databases can keep it in an index.
    pub fn due(&self) -> i64 {
        let since = self.not_before.map_or(self.queued_at, |time| time.max(self.queued_at));
        since
            .as_millis()
            .saturating_add(i64::from(self.priority).saturating_mul(AGING))
    }

    /// Gives the run to a worker.
    pub fn claim(&mut self, request: &ClaimRequest, now: Timestamp) {
        self.epoch += 1;
        self.attempts = self.attempts.saturating_add(1);
        self.holder = Some(request.holder.clone());
        self.worker = Some(request.worker.clone());
        self.lease_until = Some(now.after(request.length));
    }

    /// Ends the lease of a run that waits for a person, so that the run does not keep its place as the one of its session that has
    /// a worker.
    pub fn end(&mut self) {
        (self.holder, self.lease_until) = (None, None);
    }

    /// Takes the run back from its worker.
    pub fn release(&mut self, release: &Release, now: Timestamp) {
        self.end();
        self.not_before = release.delay.map(|delay| now.after(delay));
        if release.reason == ReleaseReason::GivenBack {
            self.attempts = self.attempts.saturating_sub(1);
        }
    }

    /// Ends the delay after which a run that was released can be claimed. Returns whether there was one.
    pub fn end_delay(&mut self, status: RunStatus) -> bool {
        let is_delayed = self.counts(status) && self.holder.is_none() && self.epoch > 0 && self.not_before.is_some();
        if is_delayed {
            self.not_before = None;
        }
        is_delayed
    }

    /// Takes the run back from a worker that is gone.
    pub fn take_back(&mut self, cancels: bool, now: Timestamp) {
        self.end();
        if cancels {
            self.cancel_requested_at.get_or_insert(now);
        }
    }

    /// Queues a dead letter again. The epoch stays, so that a worker of an earlier attempt still cannot write.
    pub fn revive(&mut self, now: Timestamp) {
        *self = Self {
            epoch: self.epoch,
            ..Self::new(self.priority, None, now)
        };
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_lease_holds_until_its_end_and_for_its_epoch() {
        let at = Timestamp::from_millis;
        let mut state = LeaseState::new(0, None, at(0));
        assert!(state.is_claimable(RunStatus::Queued, at(0)));
        assert!(!state.is_claimable(RunStatus::Running, at(0)), "driven without leases");
        let request = ClaimRequest::new("h", "w").with_length(Duration::from_millis(10));
        state.claim(&request, at(5));
        assert!(state.permits(RunStatus::Queued, 1, at(14)));
        assert!(!state.permits(RunStatus::Queued, 1, at(15)));
        assert!(!state.permits(RunStatus::Queued, 0, at(14)));
        assert!(!state.permits(RunStatus::Interrupted, 1, at(14)));
        assert!(!state.is_claimable(RunStatus::Running, at(14)));
        assert!(state.is_claimable(RunStatus::Running, at(15)));
        state.release(&Release::new(ReleaseReason::Failed), at(6));
        assert!(!state.permits(RunStatus::Running, 1, at(7)));
        assert!(state.is_claimable(RunStatus::Running, at(7)));
    }

    #[test]
    fn a_step_of_the_priority_is_ten_seconds_of_waiting() {
        let state = |priority, seconds: i64| LeaseState::new(priority, None, Timestamp::from_millis(seconds * 1000));
        assert!(state(3, 0).due() < state(0, 31).due());
        assert!(state(3, 0).due() > state(0, 29).due());
        assert!(state(-3, 30).due() == state(0, 0).due());
    }
}
