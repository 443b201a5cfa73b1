//! The suite of stores of schedules finds flaws: each store here has one, and the check that should notice it fails.

mod store;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use agcore_schedule::ScheduleStore;
use agcore_testkit::{
    clock::ManualClock,
    stores::{SCHEDULE_STORE, ScheduleStoreSubject, StoreBehavior, StoreSubject},
};
use async_trait::async_trait;

use self::store::{Flaw, Flawed};

/// Opens stores with a flaw.
struct Subject(Flaw, Arc<ManualClock>);

impl StoreSubject for Subject {}

#[async_trait]
impl ScheduleStoreSubject for Subject {
    async fn schedule_stores(&self) -> [Arc<dyn ScheduleStore>; 2] {
        let store = Arc::new(Flawed::new(self.0, Arc::clone(&self.1) as _));
        [Arc::clone(&store) as _, store]
    }

    async fn pass(&self, duration: Duration) {
        self.1.advance(duration);
    }
}

fn passes(behavior: &StoreBehavior<dyn ScheduleStoreSubject>, flaw: Flaw) -> bool {
    let subject = Subject(flaw, Arc::default());
    let check = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(behavior.check(&subject));
    };
    catch_unwind(AssertUnwindSafe(check)).is_ok()
}

/// The flaws that each check has to find.
const FLAWS: &[(&str, &[Flaw])] = &[
    ("keeps_every_member", &[Flaw::TitlesAreLost, Flaw::LinesAreLost]),
    ("refuses_an_existing_id", &[Flaw::SchedulesAreReplaced]),
    ("refuses_unacceptable_schedules", &[Flaw::BadOnesAreRepaired]),
    ("keeps_tenants_apart", &[Flaw::TenantsAreMixed]),
    ("special_characters_are_data", &[Flaw::TextsEndAtNul]),
    (
        "lists_pages_by_id",
        &[Flaw::LimitsAreIgnored, Flaw::UsersAreIgnored, Flaw::PagesRepeat],
    ),
    (
        "changes_what_is_set",
        &[
            Flaw::TitlesAreNotChanged,
            Flaw::JobsAreForgotten,
            Flaw::EveryChangeStartsAnew,
        ],
    ),
    ("of_two_changes_one_wins", &[Flaw::RevisionsAreIgnored]),
    ("another_timing_starts_anew", &[Flaw::TimingsAreNotChanged]),
    (
        "pausing_and_resuming",
        &[Flaw::PausesAreIgnored, Flaw::PausedOnesAreDue, Flaw::NothingIsResumed],
    ),
    ("deletes_with_all_occurrences", &[Flaw::OccurrencesSurvive]),
    ("erases_a_user", &[Flaw::LinesSurvive, Flaw::TenantsAreErased]),
    (
        "due_ones_come_oldest_first",
        &[
            Flaw::DueOnesAreSortedById,
            Flaw::LimitsAreIgnored,
            Flaw::EverythingIsDue,
            Flaw::PagesRepeat,
        ],
    ),
    ("what_is_over_is_not_due", &[Flaw::TheNextIsKept]),
    (
        "records_what_happened",
        &[
            Flaw::RunsAreForgotten,
            Flaw::OldestComeFirst,
            Flaw::BadEntriesAreDropped,
        ],
    ),
    ("a_stale_record_changes_nothing", &[Flaw::StaleRecordsAreWritten]),
    ("a_schedule_of_the_same_id_is_another_one", &[Flaw::NamesakesAreTheSame]),
    ("occurrences_are_unique", &[Flaw::OccurrencesAreReplaced]),
    ("the_last_occurrences_are_kept", &[Flaw::AllOccurrencesAreKept]),
    (
        "of_two_processes_one_records",
        &[Flaw::StaleRecordsAreWritten, Flaw::EveryRecordSucceeds],
    ),
    (
        "sixteen_processes_record_each_once",
        &[
            Flaw::StaleRecordsAreWritten,
            Flaw::EveryRecordSucceeds,
            Flaw::RecordsAreLost,
        ],
    ),
];

#[test]
fn each_check_of_schedules_finds_its_flaws() {
    let names: Vec<&str> = SCHEDULE_STORE.iter().map(StoreBehavior::name).collect();
    let covered: Vec<&str> = FLAWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, covered, "the table must list the behaviors in their order");
    for (behavior, (name, flaws)) in SCHEDULE_STORE.iter().zip(FLAWS) {
        assert!(passes(behavior, Flaw::None), "{name} fails without a flaw");
        for flaw in *flaws {
            assert!(!passes(behavior, *flaw), "{name} accepts {flaw:?}");
        }
    }
}
