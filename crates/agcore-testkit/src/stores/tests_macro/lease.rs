//! The list of the behaviors of leases, and the macro that makes one test of each.

/// Makes one test of each behavior of [`RunLeases`](agcore_session::RunLeases) and
/// [`RunAdministration`](agcore_session::RunAdministration). The argument is an expression of a type that
/// implements [`RunLeasesSubject`](crate::stores::RunLeasesSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! run_leases_tests {
    ($subject:expr) => {
        $crate::__run_leases_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __run_leases_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            leases,
            [
                claims_what_waits,
                the_same_holder_gets_the_same_leases,
                a_run_waits_for_its_time,
                urgent_runs_come_first,
                low_priorities_do_not_starve,
                one_run_of_a_session_at_a_time,
                runs_without_leases_are_left_alone,
                selects_tenants,
                renewing_keeps_a_lease,
                an_expired_lease_is_taken_over,
                epochs_only_grow,
                a_released_run_is_free_at_once,
                an_interrupted_run_has_no_worker,
                a_cancel_request_reaches_the_holder,
                unacceptable_requests_are_refused,
                every_part_of_a_commit_is_fenced,
                events_of_many_sessions_are_fenced,
                checkpoints_are_fenced,
                a_fence_comes_before_a_conflict,
                a_fence_of_the_whole_covers_its_parts,
                a_lease_ends_with_its_run,
                a_run_that_ends_its_workers_fails,
                attempts_that_were_given_back_do_not_count,
                a_dead_letter_starts_again,
                a_flood_waits_behind_itself,
                weights_are_proportions,
                a_ceiling_is_never_exceeded,
                sixteen_workers_claim_each_run_once,
                workers_do_not_exceed_a_ceiling_together,
                delays_end_early,
                limits_of_runs_are_kept,
                runs_that_begin_together_respect_the_limits,
                all_runs_are_taken_over_at_once,
                a_fenced_store_writes_under_its_lease,
                tenants_are_listed_with_their_runs,
                a_share_is_deleted,
                dead_letters_have_pages,
                a_dead_letter_is_discarded,
                held_runs_are_listed_by_their_holders,
                workers_are_listed_while_they_report,
                a_drain_request_reaches_the_worker,
            ]
            $(, $argument)?
        }
    };
}
