//! Shows that each check of the conformance suites can fail: for each behavior there is a mutant, a store with one defect, that
//! does not pass.

mod journal;

use std::{
    fmt::Debug,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use agcore_session::Journal;
use agcore_testkit::stores::{JOURNAL, JOURNAL_FAULTS, JournalSubject, StoreBehavior, StoreSubject};
use async_trait::async_trait;

use self::journal::{JournalDefect, MutantJournal};

impl StoreSubject for JournalDefect {}

#[async_trait]
impl JournalSubject for JournalDefect {
    async fn journal(&self) -> Arc<dyn Journal> {
        Arc::new(MutantJournal::new(*self))
    }
}

fn passes<S: ?Sized>(behavior: &StoreBehavior<S>, subject: &S) -> bool {
    let check = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(behavior.check(subject));
    };
    catch_unwind(AssertUnwindSafe(check)).is_ok()
}

/// Checks that the table has each behavior, and that a store with the defect beside it does not pass.
fn check<S: ?Sized, D: Copy + Debug>(behaviors: &[StoreBehavior<S>], table: &[(&str, D)], subject: impl Fn(&D) -> &S) {
    let names: Vec<&str> = behaviors.iter().map(StoreBehavior::name).collect();
    let covered: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, covered, "the table must list the behaviors in their order");
    for (behavior, (name, defect)) in behaviors.iter().zip(table) {
        assert!(!passes(behavior, subject(defect)), "{name} accepts {defect:?}");
    }
}

#[test]
fn each_check_of_journals_can_fail() {
    use JournalDefect as D;

    check(
        JOURNAL,
        &[
            ("numbers_records_from_one", D::NumbersFromZero),
            ("appends_all_or_none", D::AppendsOneByOne),
            ("reports_every_conflict", D::IgnoresConflicts),
            ("streams_are_independent", D::IgnoresCase),
            ("reads_from_a_number_on", D::StartsAfterTheNumber),
            ("keeps_every_member", D::CutsTimes),
            ("trims_the_beginning", D::TrimmingForgetsTheEnd),
            ("a_deleted_stream_starts_again", D::DeletingTrims),
            ("refuses_unacceptable_names", D::RepairsNames),
            ("of_two_writers_one_wins", D::IgnoresConflicts),
        ],
        |defect| defect,
    );
}

#[test]
fn each_check_of_faults_can_fail() {
    check(
        JOURNAL_FAULTS,
        &[
            (
                "a_torn_acknowledgement_is_not_applied_twice",
                JournalDefect::IgnoresConflicts,
            ),
            ("every_record_is_appended_once", JournalDefect::IgnoresConflicts),
            ("abandoned_appends_are_whole", JournalDefect::AppendsOneByOne),
            ("delayed_appends_keep_their_order", JournalDefect::IgnoresConflicts),
        ],
        |defect| defect,
    );
}
