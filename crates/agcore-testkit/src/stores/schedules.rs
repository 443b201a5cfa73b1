//! The behaviors of [stores of schedules](agcore_schedule::ScheduleStore). Each function checks one of them and panics with the
//! reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

mod opened;
mod changes;
mod due;
mod kept;
mod processes;
mod records;

pub use self::{
    changes::{another_timing_starts_anew, changes_what_is_set, of_two_changes_one_wins, pausing_and_resuming},
    due::{due_ones_come_oldest_first, what_is_over_is_not_due},
    kept::{
        deletes_with_all_occurrences, erases_a_user, keeps_every_member, keeps_tenants_apart, lists_pages_by_id,
        refuses_an_existing_id, refuses_unacceptable_schedules, special_characters_are_data,
    },
    processes::{of_two_processes_one_records, sixteen_processes_record_each_once},
    records::{
        a_schedule_of_the_same_id_is_another_one, a_stale_record_changes_nothing, occurrences_are_unique,
        records_what_happened, the_last_occurrences_are_kept,
    },
};
