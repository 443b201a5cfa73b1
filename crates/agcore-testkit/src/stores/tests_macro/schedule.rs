//! The list of the behaviors of stores of schedules, and the macro that makes one test of each.

/// Makes one test of each behavior of a [`ScheduleStore`](agcore_schedule::ScheduleStore). The argument is an expression of a type
/// that implements [`ScheduleStoreSubject`](crate::stores::ScheduleStoreSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! schedule_store_tests {
    ($subject:expr) => {
        $crate::__schedule_store_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __schedule_store_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            schedules,
            [
                keeps_every_member,
                refuses_an_existing_id,
                refuses_unacceptable_schedules,
                keeps_tenants_apart,
                special_characters_are_data,
                lists_pages_by_id,
                changes_what_is_set,
                of_two_changes_one_wins,
                another_timing_starts_anew,
                pausing_and_resuming,
                deletes_with_all_occurrences,
                erases_a_user,
                due_ones_come_oldest_first,
                what_is_over_is_not_due,
                records_what_happened,
                a_stale_record_changes_nothing,
                a_schedule_of_the_same_id_is_another_one,
                occurrences_are_unique,
                the_last_occurrences_are_kept,
                of_two_processes_one_records,
                sixteen_processes_record_each_once,
            ]
            $(, $argument)?
        }
    };
}
