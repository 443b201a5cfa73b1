//! The suites find flaws: each store here has one, and the check that should notice it fails.

mod store;
mod reports;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
};

use agcore_session::{CheckpointStore, Clock, SessionStore};
use agcore_testkit::stores::{CheckpointStoreSubject, SessionStoreSubject, StoreSubject, checkpoints, sessions};
use async_trait::async_trait;

use self::store::{Flaw, Flawed};

#[async_trait]
impl StoreSubject for Flaw {}

#[async_trait]
impl SessionStoreSubject for Flaw {
    async fn session_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn SessionStore> {
        Arc::new(Flawed::new(*self, clock))
    }
}

#[async_trait]
impl CheckpointStoreSubject for Flaw {
    async fn checkpoint_store(&self, clock: Arc<dyn Clock>) -> (Arc<dyn SessionStore>, Arc<dyn CheckpointStore>) {
        let store = Arc::new(Flawed::new(*self, clock));
        (Arc::clone(&store) as _, store)
    }
}

type Check<'s> = Pin<Box<dyn Future<Output = ()> + 's>>;

/// Returns whether a check passes.
fn passes(check: Check<'_>) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    catch_unwind(AssertUnwindSafe(|| runtime.block_on(check))).is_ok()
}

/// Makes one test of each flaw: the check finds it, and passes without it.
macro_rules! flaws {
    ($($flaw:ident: $module:ident::$check:ident,)*) => {
        $(
            #[test]
            #[expect(non_snake_case, reason = "named after the flaw")]
            fn $flaw() {
                assert!(passes(Box::pin($module::$check(&Flaw::None))), "the check fails without the flaw");
                assert!(!passes(Box::pin($module::$check(&Flaw::$flaw))), "the check does not find the flaw");
            }
        )*
    };
}

flaws! {
    ConflictsAreOverwritten: sessions::reports_every_conflict,
    ConflictsOfEmptyCommitsAreMissed: sessions::reports_every_conflict,
    CommitsAreTorn: sessions::commits_all_or_nothing,
    RecordsAreLost: sessions::records_are_a_stream,
    TenantsAreMixed: sessions::keeps_tenants_apart,
    SessionsAreReplaced: sessions::refuses_an_existing_id,
    TitlesAreReplaced: sessions::sets_the_title_once,
    BadStatusesAreIgnored: sessions::statuses_follow_each_other,
    CostsAreDropped: sessions::keeps_usage_and_costs,
    CurrenciesAreNotChecked: sessions::costs_are_in_the_currency_of_the_session,
    ContentEndsAtNul: sessions::keeps_every_member_of_a_message,
    VisibilityIsIgnored: sessions::filters_messages,
    TheLastAreTheFirst: sessions::filters_messages,
    AuditIsConversation: sessions::messages_are_numbered,
    RunsAreIgnored: sessions::filters_events,
    EventsAreDoubled: sessions::events_are_numbered_over_runs,
    RunsAreSorted: sessions::keeps_runs,
    AllRunsAreOpen: sessions::filters_runs,
    PagesOfRunsRepeat: sessions::pages_through_runs,
    RunsOfAllAgentsAreListed: sessions::filters_runs_of_an_owner,
    PagesOfQuestionsRepeat: sessions::pages_through_approvals,
    TheLastEventsAreTheFirst: sessions::reads_the_last_of_a_run,
    MessagesOfAllRunsAreRead: sessions::reads_the_last_of_a_run,
    InputsAreListed: sessions::runs_in_lists_are_small,
    CountsHaveNoLimit: sessions::counts_approvals,
    RunsWithoutEventsAreLeftOut: sessions::reads_the_last_events_of_many_runs,
    BillsOfPartsAreForgotten: sessions::reads_the_bills_of_many_runs,
    SpendingOfLinesIsAdded: sessions::lists_spending,
    PagesOfSpendingRepeat: sessions::lists_spending,
    MissingRunsAreLeftOut: sessions::reports_the_progress_of_runs,
    NewEventsAreMissed: sessions::reports_the_progress_of_runs,
    CallsBeginTwice: sessions::a_call_happens_once,
    StaleDocumentsAreWritten: sessions::refuses_stale_changes_of_the_document,
    ChangesOfDocumentsHaveNoNames: sessions::keeps_the_document,
    AnswersAreForgotten: sessions::another_process_answers,
    AllAnswersAreAccepted: sessions::a_hundred_answers_at_once,
    SessionsAreSortedById: sessions::lists_the_last_changed_first,
    TiesAreSkipped: sessions::pages_through_sessions,
    EverybodyHolds: sessions::one_holder_at_a_time,
    HoldsAreKept: sessions::one_holder_at_a_time,
    SharingIsRefused: sessions::any_number_share_a_hold,
    SharedHoldsAreKept: sessions::any_number_share_a_hold,
    OneSharerCounts: sessions::any_number_share_a_hold,
    HoldsAreShared: sessions::a_hold_is_not_shared,
    SharersDoNotCount: sessions::many_share_or_one_holds,
    RecordsSurviveDeletion: sessions::deletes_everything_of_a_session,
    LinesSurviveErasure: sessions::erases_a_user,
    ErasureTakesTheBill: sessions::erasing_keeps_the_bill,
    PartsAreForgotten: sessions::parts_belong_to_their_whole,
    PartsSurviveErasure: sessions::parts_are_erased_with_their_whole,
    PartsSurviveDeletion: sessions::parts_are_deleted_with_their_whole,
    PartsGrowOldAlone: sessions::parts_are_pruned_with_their_whole,
    OnlyAgesCount: sessions::prunes_by_count,
    BatchesHaveNoLimit: sessions::prunes_in_batches,
    CountingPrunes: sessions::prunes_in_batches,
    PatchesComeFirst: checkpoints::the_first_is_a_snapshot,
    CheckpointsAreOverwritten: checkpoints::reports_every_conflict,
    EverythingIsLatest: checkpoints::the_latest_restore_the_state,
    TooMuchIsTrimmed: checkpoints::trimming_keeps_what_is_needed,
}
