//! [`Lease`] and [`Claims`]: the answer to a request.

use std::time::Duration;

use agcore_chat::{Text, Timestamp};

use super::{dead_letter::DeadLetter, fence::Fence, state::LeaseState};
use crate::run_status::RunStatus;

/// The right to work on a run and to write what it does, until it expires.
///
/// The remaining time is a duration, so that no clock of a worker is compared with that of the database. A worker measures it on a
/// clock that does not jump, from the moment *before* it has asked, and stops before it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// The tenant.
    pub tenant: Text,
    /// The id of the session.
    pub session: String,
    /// The id of the run.
    pub run: String,
    /// The status of the run. It is [`Queued`](RunStatus::Queued) until a worker has started it: claiming does not change it.
    pub status: RunStatus,
    /// The number of the claim, which is greater than that of every earlier claim of the run.
    pub epoch: u64,
    /// How often the run was claimed, with this time: 1, 2, 3 …
    pub attempt: u32,
    /// How long the lease holds, from the moment at which the store has answered.
    pub remaining: Duration,
    /// How long the lease holds from each renewal.
    pub length: Duration,
    /// Whether somebody has asked to cancel the run.
    pub cancel_requested: bool,
}

/// The answer to a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claims {
    /// The leases, the most urgent first.
    pub leases: Vec<Lease>,
    /// The runs that have failed meanwhile, because they were claimed too often.
    pub dead: Vec<DeadLetter>,
}

impl Lease {
    /// Creates the lease of a run that was claimed for this request. For implementations of [`RunLeases`](crate::RunLeases).
    pub fn new(
        (tenant, session, run): (impl Into<Text>, impl Into<String>, impl Into<String>),
        (status, state): (RunStatus, &LeaseState),
        length: Duration,
        now: Timestamp,
    ) -> Self {
        Self {
            tenant: tenant.into(),
            session: session.into(),
            run: run.into(),
            status,
            epoch: state.epoch,
            attempt: state.attempts,
            remaining: state.lease_until.map_or(Duration::ZERO, |until| until.since(now)),
            length,
            cancel_requested: state.cancel_requested_at.is_some(),
        }
    }

    /// Returns what the worker adds to its writes.
    pub fn fence(&self) -> Fence {
        Fence::new(&*self.session, &*self.run, self.epoch)
    }
}

impl Claims {
    /// Creates the answer to a claim.
    pub fn new(leases: Vec<Lease>, dead: Vec<DeadLetter>) -> Self {
        Self { leases, dead }
    }
}
