//! The suite of stores of webhooks finds flaws: each store here has one, and the check that should notice it fails.

mod contract;
mod flaw;
mod sessions;
mod store;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use agcore_session::SessionStore;
use agcore_testkit::{
    clock::ManualClock,
    stores::{StoreBehavior, StoreSubject, WEBHOOK_STORE, WebhookStoreSubject},
};
use agcore_webhook::WebhookStore;
use async_trait::async_trait;

use self::{flaw::Flaw, sessions::Sessions, store::Flawed};

/// Opens stores with a flaw.
struct Subject(Flaw, Arc<ManualClock>);

impl StoreSubject for Subject {}

#[async_trait]
impl WebhookStoreSubject for Subject {
    async fn webhook_stores(&self) -> [(Arc<dyn SessionStore>, Arc<dyn WebhookStore>); 2] {
        let webhooks = Arc::new(Flawed::new(self.0, Arc::clone(&self.1) as _));
        let sessions = Arc::new(Sessions::new(Arc::clone(&webhooks), Arc::clone(&self.1) as _));
        let first = (Arc::clone(&sessions) as _, Arc::clone(&webhooks) as _);
        [first, (sessions, webhooks)]
    }

    async fn pass(&self, duration: Duration) {
        self.1.advance(duration);
    }
}

fn passes(behavior: &StoreBehavior<dyn WebhookStoreSubject>, flaw: Flaw) -> bool {
    let subject = Subject(flaw, Arc::default());
    let check = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(behavior.check(&subject));
    };
    catch_unwind(AssertUnwindSafe(check)).is_ok()
}

/// The flaws that each check has to find.
const FLAWS: &[(&str, &[Flaw])] = &[
    (
        "keeps_every_member",
        &[
            Flaw::TitlesAreLost,
            Flaw::LinesAreLost,
            Flaw::ScopesAreLost,
            Flaw::KindsAreLost,
        ],
    ),
    ("refuses_an_existing_id", &[Flaw::WebhooksAreReplaced]),
    ("refuses_unacceptable_webhooks", &[Flaw::BadOnesAreRepaired]),
    ("keeps_tenants_apart", &[Flaw::TenantsAreMixed]),
    ("special_characters_are_data", &[Flaw::TextsEndAtNul]),
    (
        "lists_pages_by_id",
        &[Flaw::LimitsAreIgnored, Flaw::UsersAreIgnored, Flaw::PagesRepeat],
    ),
    (
        "deletes_with_all_messages",
        &[Flaw::MessagesSurvive, Flaw::DeletedOnesAreSent],
    ),
    (
        "erases_a_user",
        &[
            Flaw::LinesSurvive,
            Flaw::TenantsAreErased,
            Flaw::MessagesAboutUsersSurvive,
        ],
    ),
    (
        "changes_what_is_set",
        &[Flaw::TitlesAreNotChanged, Flaw::UrlsAreNotChanged, Flaw::KindsAreReset],
    ),
    ("of_two_changes_one_wins", &[Flaw::RevisionsAreIgnored]),
    (
        "a_secret_is_kept_after_it_is_replaced",
        &[
            Flaw::SecretsEndAtOnce,
            Flaw::OldSecretsAreKept,
            Flaw::WebhooksAreClaimedAsCreated,
        ],
    ),
    (
        "a_paused_webhook_gets_no_messages",
        &[
            Flaw::PausesAreIgnored,
            Flaw::PausedOnesAreReported,
            Flaw::PausedOnesAreClaimed,
            Flaw::PausesDiscardMessages,
        ],
    ),
    (
        "each_end_of_a_run_is_an_event",
        &[
            Flaw::WaitingIsNotReported,
            Flaw::CancellingIsFailing,
            Flaw::StartsAreReported,
            Flaw::RunsAreNotNamed,
        ],
    ),
    (
        "a_status_is_reported_once",
        &[Flaw::EveryWriteIsReported, Flaw::NewRunsAreNotReported],
    ),
    ("only_chosen_events_are_reported", &[Flaw::KindsAreIgnored]),
    (
        "the_scope_decides_whose_runs_are_reported",
        &[Flaw::EveryScopeIsTenant, Flaw::EveryScopeIsUser, Flaw::LinesAreIgnored],
    ),
    (
        "each_webhook_gets_its_own_message",
        &[Flaw::OneWebhookIsReported, Flaw::MessagesShareAnId, Flaw::IdsAreNumbers],
    ),
    ("a_failed_commit_leaves_no_message", &[Flaw::MessagesComeFirst]),
    ("a_fenced_commit_leaves_no_message", &[Flaw::MessagesComeFirst]),
    (
        "a_dead_letter_is_reported",
        &[Flaw::DeadLettersAreSilent, Flaw::EveryScopeIsTenant],
    ),
    ("parts_of_a_thread_are_not_reported", &[Flaw::PartsAreReported]),
    ("messages_survive_their_thread", &[Flaw::MessagesDieWithTheirThread]),
    (
        "claims_what_has_been_due_for_longest",
        &[Flaw::ClaimsAreSortedById, Flaw::LimitsAreIgnored, Flaw::NothingIsHeld],
    ),
    (
        "an_expired_claim_is_claimed_again",
        &[Flaw::ClaimsNeverExpire, Flaw::NothingIsHeld],
    ),
    (
        "few_messages_of_a_webhook_are_in_flight",
        &[Flaw::AllAreInFlight, Flaw::AnsweredOnesStayInFlight],
    ),
    (
        "many_webhooks_of_a_user_keep_none_of_another_back",
        &[Flaw::FloodsComeFirst],
    ),
    (
        "sixteen_processes_claim_each_message_once",
        &[Flaw::NothingIsHeld, Flaw::ClaimedOnesAreLost],
    ),
    (
        "a_delivered_message_is_not_sent_again",
        &[
            Flaw::DeliveredOnesAreSentAgain,
            Flaw::AttemptsAreForgotten,
            Flaw::EveryRecordSucceeds,
            Flaw::StaleRecordsCount,
        ],
    ),
    (
        "a_failed_attempt_is_repeated_later",
        &[
            Flaw::RetriesComeAtOnce,
            Flaw::ReceiversAreNotHeard,
            Flaw::AttemptsAreForgotten,
        ],
    ),
    ("reasons_are_data", &[Flaw::ReasonsEndAtNul]),
    (
        "a_lost_claim_records_nothing",
        &[
            Flaw::StaleRecordsCount,
            Flaw::EveryRecordSucceeds,
            Flaw::ExpiredRecordsAreLost,
        ],
    ),
    (
        "a_receiver_that_is_gone_pauses_its_webhook",
        &[
            Flaw::NothingIsPaused,
            Flaw::PausingFailsTheRest,
            Flaw::ReasonsAreReplaced,
        ],
    ),
    (
        "the_last_attempt_pauses_the_webhook",
        &[
            Flaw::NothingIsPaused,
            Flaw::EveryFailurePauses,
            Flaw::MessagesAreNeverGivenUp,
        ],
    ),
    (
        "a_message_that_others_pass_does_not_pause_the_webhook",
        &[Flaw::OneMessagePausesAll],
    ),
    (
        "a_new_url_is_not_paused_for_the_old_one",
        &[Flaw::NewUrlsArePaused, Flaw::ChangedOnesAreNotPaused],
    ),
    (
        "replays_what_is_over",
        &[
            Flaw::ReplaysKeepAttempts,
            Flaw::ReplaysHaveNewIds,
            Flaw::PausedOnesAreClaimed,
        ],
    ),
    (
        "replays_what_is_pending",
        &[Flaw::ReplaysWait, Flaw::ReplaysInterrupt, Flaw::ReplaysKeepClaims],
    ),
    ("a_test_is_a_message", &[Flaw::TestsMustBeWanted, Flaw::TestsAreNotKept]),
    (
        "lists_messages_newest_first",
        &[
            Flaw::OldestComeFirst,
            Flaw::StatesAreIgnored,
            Flaw::UnknownPlacesAreTheEnd,
            Flaw::PagesRepeat,
            Flaw::LimitsAreIgnored,
        ],
    ),
];

#[test]
fn each_check_of_webhooks_finds_its_flaws() {
    let names: Vec<&str> = WEBHOOK_STORE.iter().map(StoreBehavior::name).collect();
    let covered: Vec<&str> = FLAWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, covered, "the table must list the behaviors in their order");
    for (behavior, (name, flaws)) in WEBHOOK_STORE.iter().zip(FLAWS) {
        assert!(passes(behavior, Flaw::None), "{name} fails without a flaw");
        for flaw in *flaws {
            assert!(!passes(behavior, *flaw), "{name} accepts {flaw:?}");
        }
    }
}
