//! [`Allowance`]: what a run takes from quotas while a process works on it.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Actor, id};

use super::{amount::QuotaAmount, defaults::QuotaDefaults, limit::Quota};
use crate::error::SessionError;

/// The time for which the amount that an allowance holds is kept after its last [draw](super::QuotaStore::draw). Then it counts as
/// used, because it is unknown whether it was: the process may have died during a call. It is longer than any call of a model.
pub const HELD_FOR: Duration = Duration::from_secs(3600);

/// The run for which an allowance is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AllowanceKey {
    /// The tenant and the user whose quotas count.
    pub owner: Actor,
    /// The id of the session.
    pub session: String,
    /// The id of the run.
    pub run: String,
}

/// The right of one process to take from quotas for a run. See [`QuotaStore::open_allowance`](super::QuotaStore::open_allowance).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allowance {
    /// The run.
    pub key: AllowanceKey,
    /// The id under which the process has opened it. A later one replaces it.
    pub holder: String,
    /// The quotas of every tenant.
    pub defaults: QuotaDefaults,
    /// The currency of the quotas, if one of them limits money.
    pub currency: Option<Arc<str>>,
    /// Whether tokens or money are limited, so that the length of replies matters.
    pub limits_replies: bool,
}

impl AllowanceKey {
    /// Creates the key of a run.
    pub fn new(owner: Actor, session: impl Into<String>, run: impl Into<String>) -> Self {
        Self {
            owner,
            session: session.into(),
            run: run.into(),
        }
    }

    /// Returns the tenant whose quotas count.
    pub fn tenant(&self) -> &str {
        &self.owner.tenant
    }

    /// Returns the user whose quotas count.
    pub fn user(&self) -> &str {
        &self.owner.user
    }

    /// Checks that every store can keep the key: all its parts must be acceptable as [ids](mod@id).
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) with the first part that is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        self.owner.check()?;
        id::check_named("the id of the session", &self.session)?;
        Ok(id::check_named("the id of the run", &self.run)?)
    }
}

impl Allowance {
    /// Creates the right that a store gives, with the quotas that apply. For implementations of
    /// [`QuotaStore`](super::QuotaStore).
    pub fn new(key: AllowanceKey, holder: impl Into<String>, defaults: QuotaDefaults, quotas: &[Quota]) -> Self {
        Self {
            key,
            holder: holder.into(),
            defaults,
            currency: quotas.iter().find_map(|quota| quota.currency().cloned()),
            limits_replies: quotas
                .iter()
                .any(|quota| quota.tokens.is_some() || quota.money.is_some()),
        }
    }
}

/// The report of a process about its allowance: the amount used, and the amount that calls in flight may still use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuotaReport {
    /// Everything that was used since the allowance was opened.
    pub spent: QuotaAmount,
    /// The amount that calls in flight may use.
    pub in_flight: QuotaAmount,
}

impl QuotaReport {
    /// Creates a report of what was used, without calls in flight.
    pub const fn new(spent: QuotaAmount) -> Self {
        Self {
            spent,
            in_flight: QuotaAmount::new(),
        }
    }

    /// Sets the amount that calls in flight may use.
    #[must_use]
    pub const fn with_in_flight(mut self, amount: QuotaAmount) -> Self {
        self.in_flight = amount;
        self
    }
}
