//! The behaviors of [stores of quotas](agcore_session::quota::QuotaStore). Each function checks one of them and panics with the
//! reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

mod opened;
mod applied;
mod draws;
mod holders;
mod input;
mod kept;
mod processes;
mod runs;
mod windows;

pub use self::{
    applied::{
        a_lower_quota_admits_nothing_more, a_new_quota_counts_what_was_used_before,
        a_quota_of_a_user_replaces_that_of_each_user, defaults_apply_where_nothing_is_set,
        nothing_is_counted_without_quotas,
    },
    draws::{
        a_call_may_use_more_than_it_held, a_draw_holds_the_first_that_fits, a_refused_draw_changes_only_the_report,
        each_resource_is_limited, keeps_tenants_apart, money_has_a_currency, reports_are_totals,
        the_tenant_and_each_user_are_limited, what_others_hold_is_not_available,
    },
    holders::{
        a_key_is_that_of_one_run, a_reopened_allowance_has_another_holder, closing_returns_what_is_unused,
        erases_a_user, of_concurrent_openings_one_holds,
    },
    input::{
        amounts_do_not_overflow, refuses_unacceptable_input, special_characters_are_data, the_longest_ids_are_kept,
    },
    kept::{
        a_quota_replaces_the_same_one, a_tenant_has_one_currency, deletes_a_quota, keeps_every_member,
        lists_quotas_by_scope_and_window,
    },
    processes::{
        everything_at_once_does_no_harm, sixteen_processes_never_exceed_a_quota,
        sixteen_processes_start_no_run_too_many,
    },
    runs::{a_run_that_did_not_start_is_taken_back, a_used_up_quota_admits_no_run, runs_are_counted_up_to_the_limit},
    windows::{
        a_draw_renews_the_hold, an_expired_hold_counts_as_used, held_amounts_stay, used_amounts_end_with_their_window,
    },
};
