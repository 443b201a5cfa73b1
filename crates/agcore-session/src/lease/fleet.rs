//! [`TenantRuns`] and [`HeldRun`]: the work of a store as an administrator sees it.

use agcore_chat::{Text, Timestamp};

use super::order::TenantShare;
use crate::run_status::RunStatus;

/// A tenant with the numbers of its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TenantRuns {
    /// The tenant.
    pub tenant: Text,
    /// The number of runs that wait for a worker, also those whose lease has expired.
    pub waiting: u64,
    /// The number of runs that a worker has.
    pub held: u64,
    /// The number of [dead letters](crate::DeadLetter).
    pub dead: u64,
    /// The share that was set; without one, the default applies.
    pub share: Option<TenantShare>,
}

impl TenantRuns {
    /// Creates the numbers of a tenant. For implementations of [`RunAdministration`](crate::RunAdministration).
    pub fn new(
        tenant: impl Into<Text>,
        [waiting, held, dead]: [u64; 3],
        share: impl Into<Option<TenantShare>>,
    ) -> Self {
        Self {
            tenant: tenant.into(),
            waiting,
            held,
            dead,
            share: share.into(),
        }
    }
}

/// A run that a worker has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldRun {
    /// The tenant.
    pub tenant: Text,
    /// The id of the session.
    pub session: String,
    /// The id of the run.
    pub run: String,
    /// The status.
    pub status: RunStatus,
    /// The id that the worker has chosen for its claim.
    pub holder: String,
    /// The name of the worker, for people.
    pub worker: Option<String>,
    /// The number of the claim.
    pub epoch: u64,
    /// How often the run was claimed since it was queued.
    pub attempts: u32,
    /// The time until which the lease holds unless it is renewed.
    pub until: Timestamp,
}

impl HeldRun {
    /// Creates a run that a worker has. For implementations of [`RunAdministration`](crate::RunAdministration).
    pub fn new(
        (tenant, session, run): (impl Into<Text>, impl Into<String>, impl Into<String>),
        (status, until): (RunStatus, Timestamp),
        (holder, worker): (impl Into<String>, Option<String>),
        (epoch, attempts): (u64, u32),
    ) -> Self {
        Self {
            tenant: tenant.into(),
            session: session.into(),
            run: run.into(),
            status,
            holder: holder.into(),
            worker,
            epoch,
            attempts,
            until,
        }
    }
}
