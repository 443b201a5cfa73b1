//! The list of the behaviors of stores of webhooks, and the macro that makes one test of each.

/// Makes one test of each behavior of a [`WebhookStore`](agcore_webhook::WebhookStore). The argument is an expression of a type
/// that implements [`WebhookStoreSubject`](crate::stores::WebhookStoreSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! webhook_store_tests {
    ($subject:expr) => {
        $crate::__webhook_store_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __webhook_store_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            webhooks,
            [
                keeps_every_member,
                refuses_an_existing_id,
                refuses_unacceptable_webhooks,
                keeps_tenants_apart,
                special_characters_are_data,
                lists_pages_by_id,
                deletes_with_all_messages,
                erases_a_user,
                changes_what_is_set,
                of_two_changes_one_wins,
                a_secret_is_kept_after_it_is_replaced,
                a_paused_webhook_gets_no_messages,
                each_end_of_a_run_is_an_event,
                a_status_is_reported_once,
                only_chosen_events_are_reported,
                the_scope_decides_whose_runs_are_reported,
                each_webhook_gets_its_own_message,
                a_failed_commit_leaves_no_message,
                a_fenced_commit_leaves_no_message,
                a_dead_letter_is_reported,
                parts_of_a_thread_are_not_reported,
                messages_survive_their_thread,
                claims_what_has_been_due_for_longest,
                an_expired_claim_is_claimed_again,
                few_messages_of_a_webhook_are_in_flight,
                many_webhooks_of_a_user_keep_none_of_another_back,
                sixteen_processes_claim_each_message_once,
                a_delivered_message_is_not_sent_again,
                a_failed_attempt_is_repeated_later,
                reasons_are_data,
                a_lost_claim_records_nothing,
                a_receiver_that_is_gone_pauses_its_webhook,
                the_last_attempt_pauses_the_webhook,
                a_message_that_others_pass_does_not_pause_the_webhook,
                a_new_url_is_not_paused_for_the_old_one,
                replays_what_is_over,
                replays_what_is_pending,
                a_test_is_a_message,
                lists_messages_newest_first,
            ]
            $(, $argument)?
        }
    };
}
