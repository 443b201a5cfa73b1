//! The behaviors of [leases of runs](agcore_session::RunLeases). Each function checks one of them and panics with the reason if it
//! fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

mod opened;
mod administration;
mod claims;
mod dead_letters;
mod fences;
mod holding;
mod limits;
mod shares;
mod workers;

pub use self::{
    administration::{
        a_dead_letter_is_discarded, a_drain_request_reaches_the_worker, a_share_is_deleted, dead_letters_have_pages,
        held_runs_are_listed_by_their_holders, tenants_are_listed_with_their_runs,
        workers_are_listed_while_they_report,
    },
    claims::{
        a_run_waits_for_its_time, claims_what_waits, low_priorities_do_not_starve, one_run_of_a_session_at_a_time,
        runs_without_leases_are_left_alone, selects_tenants, the_same_holder_gets_the_same_leases,
        urgent_runs_come_first,
    },
    dead_letters::{
        a_dead_letter_starts_again, a_run_that_ends_its_workers_fails, attempts_that_were_given_back_do_not_count,
    },
    fences::{
        a_fence_comes_before_a_conflict, a_fence_of_the_whole_covers_its_parts, a_lease_ends_with_its_run,
        checkpoints_are_fenced, events_of_many_sessions_are_fenced, every_part_of_a_commit_is_fenced,
    },
    holding::{
        a_cancel_request_reaches_the_holder, a_released_run_is_free_at_once, an_expired_lease_is_taken_over,
        an_interrupted_run_has_no_worker, delays_end_early, epochs_only_grow, renewing_keeps_a_lease,
        unacceptable_requests_are_refused,
    },
    limits::{
        a_fenced_store_writes_under_its_lease, all_runs_are_taken_over_at_once, limits_of_runs_are_kept,
        runs_that_begin_together_respect_the_limits,
    },
    shares::{a_ceiling_is_never_exceeded, a_flood_waits_behind_itself, weights_are_proportions},
    workers::{sixteen_workers_claim_each_run_once, workers_do_not_exceed_a_ceiling_together},
};
