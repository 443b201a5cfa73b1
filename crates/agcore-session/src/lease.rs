//! Leases of runs: which worker may write for a run, until when, and which run is the next one.
//!
//! The rules are functions without a store, so that all stores, and the model in the tests, decide alike.

mod fence;
mod state;
mod order;
mod claim;
mod renewal;
mod dead_letter;
mod granted;
mod limits;
mod fleet;
mod worker;

pub use self::{
    claim::ClaimRequest,
    dead_letter::{DeadLetter, DeadLetterCursor, DeadLetterFilter},
    fence::Fence,
    fleet::{HeldRun, TenantRuns},
    granted::{Claims, Lease},
    limits::{RunCounts, RunLimits},
    order::{ClaimCandidate, RunTurn, TenantLoad, TenantShare},
    renewal::{CancelRequest, Release, ReleaseReason, Renewal},
    state::LeaseState,
    worker::{Worker, WorkerReport},
};
