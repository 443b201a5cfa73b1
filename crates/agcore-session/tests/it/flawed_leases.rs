//! The suite of leases finds flaws: each store here has one, and the check that should notice it fails.

mod administration;
mod sessions;
mod store;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use agcore_session::RunScope;
use agcore_testkit::{
    clock::ManualClock,
    stores::{LeaseStore, RUN_LEASES, RunLeasesSubject, StoreBehavior, StoreSubject},
};
use async_trait::async_trait;

use self::store::{Flaw, Flawed, Part};

/// Opens stores with a flaw.
struct Subject(Flaw, Arc<ManualClock>);

impl StoreSubject for Subject {}

#[async_trait]
impl RunLeasesSubject for Subject {
    async fn lease_stores(&self) -> [Arc<dyn LeaseStore>; 2] {
        let store = Arc::new(Flawed::new(self.0, Arc::clone(&self.1) as _));
        [Arc::clone(&store) as _, store]
    }

    async fn pass(&self, duration: Duration) {
        self.1.advance(duration);
    }
}

fn passes(behavior: &StoreBehavior<dyn RunLeasesSubject>, flaw: Flaw) -> bool {
    let subject = Subject(flaw, Arc::default());
    let check = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(behavior.check(&subject));
    };
    catch_unwind(AssertUnwindSafe(check)).is_ok()
}

/// The flaws that each check has to find.
const FLAWS: &[(&str, &[Flaw])] = &[
    ("claims_what_waits", &[Flaw::ClaimsBeginRuns]),
    ("the_same_holder_gets_the_same_leases", &[Flaw::HoldersAreForgotten]),
    ("a_run_waits_for_its_time", &[Flaw::TimesAreIgnored]),
    ("urgent_runs_come_first", &[Flaw::PrioritiesAreIgnored]),
    ("low_priorities_do_not_starve", &[Flaw::RunsDoNotAge]),
    ("one_run_of_a_session_at_a_time", &[Flaw::SessionsHaveManyHolders]),
    ("runs_without_leases_are_left_alone", &[Flaw::DrivenRunsAreTaken]),
    ("selects_tenants", &[Flaw::TenantsAreMixed]),
    (
        "renewing_keeps_a_lease",
        &[Flaw::RenewalsDoNothing, Flaw::EverythingIsRenewed],
    ),
    (
        "an_expired_lease_is_taken_over",
        &[Flaw::LeasesDoNotExpire, Flaw::EverythingIsRenewed],
    ),
    ("epochs_only_grow", &[Flaw::EpochsAreReused]),
    ("a_released_run_is_free_at_once", &[Flaw::ReleasesDoNothing]),
    (
        "an_interrupted_run_has_no_worker",
        &[Flaw::InterruptedRunsKeepTheirWorkers],
    ),
    (
        "a_cancel_request_reaches_the_holder",
        &[Flaw::CancelRequestsAreLost, Flaw::CancelRequestsAreNotListed],
    ),
    ("unacceptable_requests_are_refused", &[Flaw::BadRequestsAreAnswered]),
    (
        "every_part_of_a_commit_is_fenced",
        &[
            Flaw::ForgetsFenceOf(Part::Records),
            Flaw::ForgetsFenceOf(Part::Messages),
            Flaw::ForgetsFenceOf(Part::AuditMessages),
            Flaw::ForgetsFenceOf(Part::Costs),
            Flaw::ForgetsFenceOf(Part::Events),
            Flaw::ForgetsFenceOf(Part::Statuses),
            Flaw::ForgetsFenceOf(Part::CallsThatBegin),
            Flaw::ForgetsFenceOf(Part::CallsThatEnd),
            Flaw::ForgetsFenceOf(Part::Questions),
            Flaw::ForgetsFenceOf(Part::Answers),
            Flaw::ForgetsFenceOf(Part::Titles),
            Flaw::LeasesDoNotExpire,
        ],
    ),
    (
        "events_of_many_sessions_are_fenced",
        &[Flaw::ForgetsFenceOf(Part::Batches)],
    ),
    (
        "checkpoints_are_fenced",
        &[
            Flaw::ForgetsFenceOf(Part::Checkpoints),
            Flaw::ForgetsFenceOf(Part::Trimming),
        ],
    ),
    ("a_fence_comes_before_a_conflict", &[Flaw::ConflictsComeFirst]),
    (
        "a_fence_of_the_whole_covers_its_parts",
        &[Flaw::FencesAreOfTheSessionWritten],
    ),
    ("a_lease_ends_with_its_run", &[Flaw::RunsThatAreOverAreWritten]),
    (
        "a_run_that_ends_its_workers_fails",
        &[Flaw::AttemptsAreNotCounted, Flaw::DeadRunsLookAlive],
    ),
    ("attempts_that_were_given_back_do_not_count", &[Flaw::EveryClaimCounts]),
    ("a_dead_letter_starts_again", &[Flaw::DeadLettersStayDead]),
    ("a_flood_waits_behind_itself", &[Flaw::FirstTenantsComeFirst]),
    ("weights_are_proportions", &[Flaw::WeightsAreIgnored]),
    ("a_ceiling_is_never_exceeded", &[Flaw::CeilingsAreIgnored]),
    (
        "sixteen_workers_claim_each_run_once",
        &[Flaw::LeasesAreGivenTwice, Flaw::SessionsHaveManyHolders],
    ),
    ("workers_do_not_exceed_a_ceiling_together", &[Flaw::CeilingsAreIgnored]),
    (
        "delays_end_early",
        &[Flaw::DelaysDoNotEnd, Flaw::ReleasesDoNothing, Flaw::TimesAreIgnored],
    ),
    (
        "limits_of_runs_are_kept",
        &[
            Flaw::Ignores(RunScope::User),
            Flaw::Ignores(RunScope::Tenant),
            Flaw::Ignores(RunScope::Total),
        ],
    ),
    (
        "runs_that_begin_together_respect_the_limits",
        &[Flaw::Ignores(RunScope::User)],
    ),
    (
        "all_runs_are_taken_over_at_once",
        &[Flaw::TakingOverDoesNothing, Flaw::TakingOverCancelsAll],
    ),
    (
        "a_fenced_store_writes_under_its_lease",
        &[
            Flaw::ForgetsFenceOf(Part::Records),
            Flaw::ForgetsFenceOf(Part::Batches),
            Flaw::ForgetsFenceOf(Part::Checkpoints),
            Flaw::ForgetsFenceOf(Part::Trimming),
            Flaw::LeasesDoNotExpire,
            Flaw::HoldsAreNotShared,
        ],
    ),
    (
        "tenants_are_listed_with_their_runs",
        &[
            Flaw::PagesOfTenantsRepeat,
            Flaw::ExpiredLeasesLookHeld,
            Flaw::SharesAreNotListed,
            Flaw::EveryTenantExists,
        ],
    ),
    ("a_share_is_deleted", &[Flaw::SharesAreNotDeleted]),
    (
        "dead_letters_have_pages",
        &[Flaw::DeadLettersAreOfAll, Flaw::PagesSkipDeadLetters],
    ),
    (
        "a_dead_letter_is_discarded",
        &[Flaw::DiscardedLettersStay, Flaw::DiscardedLettersAreQueued],
    ),
    (
        "held_runs_are_listed_by_their_holders",
        &[Flaw::HoldersAreMixed, Flaw::LostRunsLookHeld],
    ),
    (
        "workers_are_listed_while_they_report",
        &[
            Flaw::WorkersNeverEnd,
            Flaw::ReportsBeginAgain,
            Flaw::WorkersAreNotForgotten,
        ],
    ),
    (
        "a_drain_request_reaches_the_worker",
        &[
            Flaw::DrainRequestsAreLost,
            Flaw::DrainsStay,
            Flaw::AllAreDrained,
            Flaw::ReportsBeginAgain,
            Flaw::WorkersNeverEnd,
        ],
    ),
];

#[test]
fn each_check_of_leases_finds_its_flaws() {
    let names: Vec<&str> = RUN_LEASES.iter().map(StoreBehavior::name).collect();
    let covered: Vec<&str> = FLAWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, covered, "the table must list the behaviors in their order");
    for (behavior, (name, flaws)) in RUN_LEASES.iter().zip(FLAWS) {
        assert!(passes(behavior, Flaw::None), "{name} fails without a flaw");
        for flaw in *flaws {
            assert!(!passes(behavior, *flaw), "{name} accepts {flaw:?}");
        }
    }
}
