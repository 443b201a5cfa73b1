//! The behaviors of [stores of webhooks](agcore_webhook::WebhookStore). Each function checks one of them and panics with the reason
//! if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

mod opened;
mod changes;
mod claims;
mod commits;
mod events;
mod kept;
mod pauses;
mod records;
mod replays;

pub use self::{
    changes::{
        a_paused_webhook_gets_no_messages, a_secret_is_kept_after_it_is_replaced, changes_what_is_set,
        of_two_changes_one_wins,
    },
    claims::{
        an_expired_claim_is_claimed_again, claims_what_has_been_due_for_longest,
        few_messages_of_a_webhook_are_in_flight, many_webhooks_of_a_user_keep_none_of_another_back,
        sixteen_processes_claim_each_message_once,
    },
    commits::{
        a_dead_letter_is_reported, a_failed_commit_leaves_no_message, a_fenced_commit_leaves_no_message,
        messages_survive_their_thread, parts_of_a_thread_are_not_reported,
    },
    events::{
        a_status_is_reported_once, each_end_of_a_run_is_an_event, each_webhook_gets_its_own_message,
        only_chosen_events_are_reported, the_scope_decides_whose_runs_are_reported,
    },
    kept::{
        deletes_with_all_messages, erases_a_user, keeps_every_member, keeps_tenants_apart, lists_pages_by_id,
        refuses_an_existing_id, refuses_unacceptable_webhooks, special_characters_are_data,
    },
    pauses::{
        a_message_that_others_pass_does_not_pause_the_webhook, a_new_url_is_not_paused_for_the_old_one,
        a_receiver_that_is_gone_pauses_its_webhook, the_last_attempt_pauses_the_webhook,
    },
    records::{
        a_delivered_message_is_not_sent_again, a_failed_attempt_is_repeated_later, a_lost_claim_records_nothing,
        reasons_are_data,
    },
    replays::{a_test_is_a_message, lists_messages_newest_first, replays_what_is_over, replays_what_is_pending},
};
