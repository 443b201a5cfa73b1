//! The list of the behaviors of stores of quotas, and the macro that makes one test of each.

/// Makes one test of each behavior of a [`QuotaStore`](agcore_session::quota::QuotaStore). The argument is an expression of a type
/// that implements [`QuotaStoreSubject`](crate::stores::QuotaStoreSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! quota_store_tests {
    ($subject:expr) => {
        $crate::__quota_store_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __quota_store_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            quotas,
            [
                keeps_every_member,
                a_quota_replaces_the_same_one,
                lists_quotas_by_scope_and_window,
                deletes_a_quota,
                refuses_unacceptable_input,
                a_tenant_has_one_currency,
                special_characters_are_data,
                the_longest_ids_are_kept,
                amounts_do_not_overflow,
                nothing_is_counted_without_quotas,
                defaults_apply_where_nothing_is_set,
                a_new_quota_counts_what_was_used_before,
                a_lower_quota_admits_nothing_more,
                runs_are_counted_up_to_the_limit,
                a_used_up_quota_admits_no_run,
                a_run_that_did_not_start_is_taken_back,
                a_draw_holds_the_first_that_fits,
                a_refused_draw_changes_only_the_report,
                reports_are_totals,
                a_call_may_use_more_than_it_held,
                each_resource_is_limited,
                money_has_a_currency,
                what_others_hold_is_not_available,
                the_tenant_and_each_user_are_limited,
                a_quota_of_a_user_replaces_that_of_each_user,
                keeps_tenants_apart,
                closing_returns_what_is_unused,
                a_reopened_allowance_has_another_holder,
                a_key_is_that_of_one_run,
                used_amounts_end_with_their_window,
                held_amounts_stay,
                an_expired_hold_counts_as_used,
                a_draw_renews_the_hold,
                erases_a_user,
                of_concurrent_openings_one_holds,
                sixteen_processes_start_no_run_too_many,
                sixteen_processes_never_exceed_a_quota,
                everything_at_once_does_no_harm,
            ]
            $(, $argument)?
        }
    };
}
