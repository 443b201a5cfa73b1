//! [`Rules`]: those of the stores. A mutant replaces one.

use agcore_session::{ClaimRequest, LeaseState, Release, RunStatus, RunTurn, Timestamp};

/// Decides about a run with this status, for a worker with this epoch.
pub(super) type Guard = fn(&LeaseState, RunStatus, u64, Timestamp) -> bool;

#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// Whether a write takes place.
    pub(super) may_write: Guard,
    /// Whether a lease is renewed.
    pub(super) may_renew: Guard,
    /// Whether a lease is released.
    pub(super) may_release: Guard,
    /// Whether a run can be claimed, given the other one of its session.
    pub(super) may_claim: for<'r> fn(RunTurn<'r>, Option<RunTurn<'r>>, Timestamp) -> bool,
    /// Whether a run has been claimed too often.
    pub(super) is_exhausted: fn(&LeaseState, u32) -> bool,
    pub(super) claim: fn(&mut LeaseState, &ClaimRequest, Timestamp),
    pub(super) release: fn(&mut LeaseState, &Release, Timestamp),
    pub(super) revive: fn(&mut LeaseState, Timestamp),
}

pub(super) const RULES: Rules = Rules {
    may_write: LeaseState::permits,
    may_renew: LeaseState::permits,
    may_release: LeaseState::permits,
    may_claim: |turn, other, now| turn.may_be_claimed(other, now),
    is_exhausted: |lease, attempts| lease.attempts >= attempts,
    claim: LeaseState::claim,
    release: LeaseState::release,
    revive: LeaseState::revive,
};
