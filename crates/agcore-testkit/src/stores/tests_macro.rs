//! The macros that make one test of each behavior.

/// Makes one test of each behavior of a [`MemoryStore`](agcore_memory::MemoryStore). The argument is an expression of a type
/// that implements [`StoreSubject`](crate::stores::StoreSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! memory_store_tests {
    ($subject:expr) => {
        $crate::__store_tests!(
            $subject,
            memory_store,
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
            erases_a_user,
            expired_items_do_not_exist,
            evicts_by_capacity,
            evicts_by_recall_value,
            reserved_items_are_not_evicted,
            a_clock_that_goes_backwards_does_no_harm,
            concurrent_saves_are_all_kept,
        );
    };
}

/// Makes one test of each behavior of a [`Journal`](agcore_memory::Journal). See [`memory_store_tests!`](crate::memory_store_tests).
#[macro_export]
macro_rules! journal_tests {
    ($subject:expr) => {
        $crate::__store_tests!(
            $subject,
            journal,
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
        );
    };
}

/// Makes tests of the functions of a module. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_tests {
    ($subject:expr, $module:ident, $($name:ident),* $(,)?) => {
        $(
            #[tokio::test]
            async fn $name() {
                $crate::stores::$module::$name(&$subject).await;
            }
        )*
    };
}
