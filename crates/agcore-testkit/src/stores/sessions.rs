//! The behaviors of session stores. Each function checks one of them and panics with the reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

mod opened;
mod approvals;
mod commits;
mod documents;
mod erasure;
mod holds;
mod lifecycle;
mod lists;
mod messages;
mod parts;
mod progress;
mod reports;
mod retention;
mod run_lists;
mod runs;
mod writers;

pub use self::{
    approvals::{a_hundred_answers_at_once, another_process_answers, filters_approvals, withdraws_questions},
    commits::{
        a_clock_that_goes_backwards_does_no_harm, an_empty_commit_changes_nothing, commits_all_or_nothing,
        commits_all_parts, records_are_a_stream, reports_every_conflict, statuses_follow_each_other,
        the_state_changes_as_a_whole,
    },
    documents::{keeps_the_document, no_change_of_the_document_is_lost, refuses_stale_changes_of_the_document},
    erasure::{an_erased_session_does_not_change, erases_one_session, erasing_keeps_the_bill},
    holds::{
        a_held_session_has_a_known_holder, a_hold_is_not_shared, any_number_share_a_hold, many_share_or_one_holds,
        of_many_holders_one_wins, one_holder_at_a_time,
    },
    lifecycle::{
        creates_a_session, deletes_everything_of_a_session, erases_a_user, keeps_tenants_apart, refuses_an_existing_id,
        refuses_unacceptable_sessions, renames, sets_the_title_once, special_characters_are_data,
    },
    lists::{filters_sessions, lists_the_last_changed_first, pages_through_sessions},
    messages::{
        costs_are_in_the_currency_of_the_session, filters_messages, keeps_every_member_of_a_message,
        keeps_large_content, keeps_usage_and_costs, message_ids_are_unique, messages_are_numbered,
        refuses_contradictory_messages,
    },
    parts::{
        parts_are_deleted_with_their_whole, parts_are_erased_with_their_whole, parts_are_pruned_with_their_whole,
        parts_belong_to_their_whole,
    },
    progress::reports_the_progress_of_runs,
    reports::{counts_approvals, lists_spending, reads_the_bills_of_many_runs, reads_the_last_events_of_many_runs},
    retention::{
        prunes_by_age, prunes_by_count, prunes_in_batches, prunes_nothing_that_is_needed, pruning_keeps_the_bill,
    },
    run_lists::{
        filters_runs_by_texts, filters_runs_of_an_owner, pages_through_approvals, pages_through_runs,
        reads_the_last_of_a_run, runs_in_lists_are_small,
    },
    runs::{
        a_call_happens_once, events_alone_follow_the_rules, events_are_numbered_over_runs,
        events_of_many_sessions_are_independent, filters_events, filters_runs, keeps_calls_in_order, keeps_runs,
        run_statuses_follow_each_other, the_data_of_events_can_be_text,
    },
    writers::{sixty_four_writers_leave_no_gaps, sixty_four_writers_try_again_after_conflicts},
};
