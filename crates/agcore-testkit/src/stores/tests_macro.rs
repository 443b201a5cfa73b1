//! The lists of behaviors, and the macros that make one test of each.

#[macro_use]
mod index;
#[macro_use]
mod knowledge;
#[macro_use]
mod lease;
#[macro_use]
mod quota;
#[macro_use]
mod schedule;
#[macro_use]
mod webhook;

/// Makes one test of each behavior of a [`MemoryStore`](agcore_memory::MemoryStore). The argument is an expression of a type
/// that implements [`MemoryStoreSubject`](crate::stores::MemoryStoreSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! memory_store_tests {
    ($subject:expr) => {
        $crate::__memory_store_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __memory_store_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            memory_store,
            [
                saves_and_replaces,
                saves_all_or_none,
                keeps_every_member,
                keeps_tenants_apart,
                deletes,
                deletes_by_prefix,
                special_characters_are_data,
                refuses_unacceptable_input,
                keeps_large_content,
                lists_in_a_stable_order,
                pages_through_a_list,
                filters_by_time,
                filters_by_metadata,
                filters_by_owner,
                filters_by_validity,
                supersedes_facts,
                erases_a_user,
                expired_items_do_not_exist,
                evicts_by_capacity,
                evicts_by_recall_value,
                reserved_items_are_not_evicted,
                a_clock_that_goes_backwards_does_no_harm,
                concurrent_saves_are_all_kept,
            ]
            $(, $argument)?
        }
    };
}

/// Makes one test of each behavior of a [`Journal`](agcore_session::Journal). The argument is an expression of a type that
/// implements [`JournalSubject`](crate::stores::JournalSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! journal_tests {
    ($subject:expr) => {
        $crate::__journal_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __journal_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            journal,
            [
                numbers_records_from_one,
                appends_all_or_none,
                reports_every_conflict,
                streams_are_independent,
                reads_from_a_number_on,
                keeps_every_member,
                trims_the_beginning,
                a_deleted_stream_starts_again,
                refuses_unacceptable_names,
                of_two_writers_one_wins,
            ]
            $(, $argument)?
        }
    };
}

/// Makes one test of each behavior of a [`SessionStore`](agcore_session::SessionStore). The argument is an expression of a type
/// that implements [`SessionStoreSubject`](crate::stores::SessionStoreSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! session_store_tests {
    ($subject:expr) => {
        $crate::__session_store_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __session_store_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            sessions,
            [
                creates_a_session,
                refuses_an_existing_id,
                keeps_tenants_apart,
                refuses_unacceptable_sessions,
                special_characters_are_data,
                sets_the_title_once,
                renames,
                deletes_everything_of_a_session,
                erases_a_user,
                erases_one_session,
                erasing_keeps_the_bill,
                an_erased_session_does_not_change,
                parts_belong_to_their_whole,
                parts_are_erased_with_their_whole,
                parts_are_deleted_with_their_whole,
                parts_are_pruned_with_their_whole,
                prunes_by_age,
                prunes_by_count,
                prunes_nothing_that_is_needed,
                prunes_in_batches,
                pruning_keeps_the_bill,
                commits_all_or_nothing,
                commits_all_parts,
                reports_every_conflict,
                an_empty_commit_changes_nothing,
                records_are_a_stream,
                statuses_follow_each_other,
                the_state_changes_as_a_whole,
                a_clock_that_goes_backwards_does_no_harm,
                messages_are_numbered,
                message_ids_are_unique,
                keeps_every_member_of_a_message,
                keeps_usage_and_costs,
                costs_are_in_the_currency_of_the_session,
                refuses_contradictory_messages,
                filters_messages,
                keeps_large_content,
                events_alone_follow_the_rules,
                events_of_many_sessions_are_independent,
                the_data_of_events_can_be_text,
                events_are_numbered_over_runs,
                filters_events,
                filters_runs,
                reports_the_progress_of_runs,
                keeps_runs,
                run_statuses_follow_each_other,
                a_call_happens_once,
                keeps_calls_in_order,
                keeps_the_document,
                refuses_stale_changes_of_the_document,
                no_change_of_the_document_is_lost,
                another_process_answers,
                withdraws_questions,
                a_hundred_answers_at_once,
                filters_approvals,
                lists_the_last_changed_first,
                pages_through_sessions,
                pages_through_runs,
                filters_runs_of_an_owner,
                filters_runs_by_texts,
                runs_in_lists_are_small,
                pages_through_approvals,
                reads_the_last_of_a_run,
                counts_approvals,
                reads_the_last_events_of_many_runs,
                reads_the_bills_of_many_runs,
                lists_spending,
                filters_sessions,
                one_holder_at_a_time,
                of_many_holders_one_wins,
                a_held_session_has_a_known_holder,
                any_number_share_a_hold,
                a_hold_is_not_shared,
                many_share_or_one_holds,
                sixty_four_writers_leave_no_gaps,
                sixty_four_writers_try_again_after_conflicts,
            ]
            $(, $argument)?
        }
    };
}

/// Makes one test of each behavior of a [`CheckpointStore`](agcore_session::CheckpointStore). The argument is an expression of a
/// type that implements [`CheckpointStoreSubject`](crate::stores::CheckpointStoreSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! checkpoint_tests {
    ($subject:expr) => {
        $crate::__checkpoint_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __checkpoint_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            checkpoints,
            [
                checkpoints_are_numbered,
                reports_every_conflict,
                of_many_writers_one_wins,
                the_first_is_a_snapshot,
                the_latest_restore_the_state,
                trimming_keeps_what_is_needed,
                needs_a_run,
                are_deleted_with_their_session,
            ]
            $(, $argument)?
        }
    };
}

/// Makes one test of each behavior of a [`UserDataStore`](agcore_store::user_data::UserDataStore). The argument is an expression of
/// a type that implements [`UserDataSubject`](crate::stores::UserDataSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! user_data_tests {
    ($subject:expr) => {
        $crate::__user_data_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __user_data_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            user_data,
            [
                exports_everything_of_a_user,
                exports_many_rows_once,
                a_failing_writer_ends_the_export,
                erases_everything_but_the_bill,
                an_interrupted_erasure_is_completed_by_the_next,
                lists_are_paged_by_id,
            ]
            $(, $argument)?
        }
    };
}

/// Makes one test of each behavior of a [`MemoryStore`](agcore_memory::MemoryStore) whose calls fail, lose their answers, wait or
/// are abandoned. The argument is an expression of a type that implements
/// [`MemoryStoreSubject`](crate::stores::MemoryStoreSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! memory_store_fault_tests {
    ($subject:expr) => {
        $crate::__memory_store_fault_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __memory_store_fault_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            memory_store_faults,
            [
                survives_failed_calls,
                repeated_writes_have_one_effect,
                abandoned_saves_are_whole,
                delayed_saves_keep_their_order,
            ]
            $(, $argument)?
        }
    };
}

/// Makes one test of each behavior of a [`Journal`](agcore_session::Journal) whose calls fail, lose their answers, wait or
/// are abandoned. The argument is an expression of a type that implements
/// [`JournalSubject`](crate::stores::JournalSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! journal_fault_tests {
    ($subject:expr) => {
        $crate::__journal_fault_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __journal_fault_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            journal_faults,
            [
                a_torn_acknowledgement_is_not_applied_twice,
                every_record_is_appended_once,
                abandoned_appends_are_whole,
                delayed_appends_keep_their_order,
            ]
            $(, $argument)?
        }
    };
}

/// Makes tests of the functions of a module. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_tests {
    ($module:ident, [$($name:ident),* $(,)?], $subject:expr) => {
        $(
            #[tokio::test]
            async fn $name() {
                let subject = $subject;
                if let Some(reason) = $crate::stores::StoreSubject::unavailable(&subject).await {
                    println!("skipped: {reason}");
                    return;
                }
                $crate::stores::$module::$name(&subject).await;
            }
        )*
    };
}

/// Makes a list of the functions of a module, where `StoreBehavior` is in scope. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_behaviors {
    ($module:ident, [$($name:ident),* $(,)?]) => {
        &[$(StoreBehavior::new(stringify!($name), |subject| {
            ::std::boxed::Box::pin($crate::stores::$module::$name(subject))
        })),*]
    };
}
