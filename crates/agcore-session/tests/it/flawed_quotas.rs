//! The suite of stores of quotas finds flaws: each store here has one, and the check that should notice it fails.

mod flaw;
mod store;
mod tenant;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use agcore_session::quota::{QuotaResource, QuotaStore};
use agcore_testkit::{
    clock::ManualClock,
    stores::{QUOTA_STORE, QuotaStoreSubject, StoreBehavior, StoreSubject},
};
use async_trait::async_trait;

use self::{flaw::Flaw, store::Flawed};

/// Opens stores with a flaw.
struct Subject(Flaw, Arc<ManualClock>);

impl StoreSubject for Subject {}

#[async_trait]
impl QuotaStoreSubject for Subject {
    async fn quota_stores(&self) -> [Arc<dyn QuotaStore>; 2] {
        let store = Arc::new(Flawed::new(self.0, Arc::clone(&self.1) as _));
        [Arc::clone(&store) as _, store]
    }

    async fn pass(&self, duration: Duration) {
        self.1.advance(duration);
    }
}

fn passes(behavior: &StoreBehavior<dyn QuotaStoreSubject>, flaw: Flaw) -> bool {
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
        &[Flaw::LimitsOfRunsAreLost, Flaw::LargeLimitsAreCut],
    ),
    (
        "a_quota_replaces_the_same_one",
        &[Flaw::QuotasAreMerged, Flaw::SettingResetsUsage],
    ),
    (
        "lists_quotas_by_scope_and_window",
        &[
            Flaw::ScopesAreSortedByName,
            Flaw::WindowsAreSortedByName,
            Flaw::TenantsComeLast,
        ],
    ),
    (
        "deletes_a_quota",
        &[Flaw::DeletingDoesNothing, Flaw::DeletingTakesAllWindows],
    ),
    (
        "refuses_unacceptable_input",
        &[
            Flaw::BadQuotasAreAccepted,
            Flaw::BadTenantsAreAccepted,
            Flaw::BadOwnersAreAccepted,
            Flaw::BadKeysAreAccepted,
        ],
    ),
    (
        "a_tenant_has_one_currency",
        &[Flaw::CurrenciesAreMixed, Flaw::DrawsAreTorn],
    ),
    ("special_characters_are_data", &[Flaw::UsersAreTrimmed]),
    ("the_longest_ids_are_kept", &[Flaw::IdsAreCut]),
    ("amounts_do_not_overflow", &[Flaw::SumsWrap]),
    (
        "nothing_is_counted_without_quotas",
        &[Flaw::RunsAreAlwaysCounted, Flaw::AllowancesAreAlwaysOpened],
    ),
    (
        "defaults_apply_where_nothing_is_set",
        &[
            Flaw::DefaultsAreIgnored,
            Flaw::DefaultsAreAdded,
            Flaw::DefaultsAreNotKept,
        ],
    ),
    ("a_new_quota_counts_what_was_used_before", &[Flaw::OnlyQuotasCount]),
    ("a_lower_quota_admits_nothing_more", &[Flaw::SettingResetsUsage]),
    (
        "runs_are_counted_up_to_the_limit",
        &[
            Flaw::RefusedRunsAreCounted,
            Flaw::Ignores(QuotaResource::Runs),
            Flaw::LinesAreUsers,
            Flaw::DefaultsAreIgnored,
        ],
    ),
    (
        "a_used_up_quota_admits_no_run",
        &[Flaw::UsedUpQuotasAdmitRuns, Flaw::HeldAmountsUseUpQuotas],
    ),
    (
        "a_run_that_did_not_start_is_taken_back",
        &[
            Flaw::RunsAreNotTakenBack,
            Flaw::RunsAreNotTakenFromTenants,
            Flaw::RunsAreNotTakenFromUsers,
            Flaw::MoreIsTakenBack,
            Flaw::LinesAreUsers,
            Flaw::TenantsAreMixed,
        ],
    ),
    (
        "a_draw_holds_the_first_that_fits",
        &[Flaw::TheLastFits, Flaw::HoldsAddUp],
    ),
    (
        "a_refused_draw_changes_only_the_report",
        &[
            Flaw::TheFirstIsReported,
            Flaw::RefusedDrawsReportNothing,
            Flaw::RefusedDrawsHoldNothing,
        ],
    ),
    ("reports_are_totals", &[Flaw::ReportsAddUp]),
    (
        "a_call_may_use_more_than_it_held",
        &[Flaw::ReportsAreCut, Flaw::UsedUpQuotasRefuseAll],
    ),
    (
        "each_resource_is_limited",
        &[
            Flaw::Ignores(QuotaResource::ModelCalls),
            Flaw::Ignores(QuotaResource::Tokens),
            Flaw::Ignores(QuotaResource::Money),
        ],
    ),
    ("money_has_a_currency", &[Flaw::CurrenciesAreForgotten]),
    (
        "what_others_hold_is_not_available",
        &[Flaw::OthersAreNotSeen, Flaw::OthersOfTheTenantAreNotSeen],
    ),
    (
        "the_tenant_and_each_user_are_limited",
        &[
            Flaw::UsersShareTheirQuota,
            Flaw::LinesAreUsers,
            Flaw::OthersAreNotSeen,
            Flaw::OthersOfTheTenantAreNotSeen,
        ],
    ),
    (
        "a_quota_of_a_user_replaces_that_of_each_user",
        &[Flaw::QuotasOfUsersAreAdded],
    ),
    ("keeps_tenants_apart", &[Flaw::TenantsAreMixed]),
    (
        "closing_returns_what_is_unused",
        &[
            Flaw::ClosingKeepsHolds,
            Flaw::ClosingReportsNothing,
            Flaw::ClosedOnesAreDrawnFrom,
            Flaw::HoldersAreNotChecked,
        ],
    ),
    (
        "a_reopened_allowance_has_another_holder",
        &[
            Flaw::ReopeningReturnsHolds,
            Flaw::ReopeningKeepsPresumptions,
            Flaw::HoldersAreReused,
            Flaw::HoldersAreNotChecked,
            Flaw::ClosingIsNotFenced,
        ],
    ),
    (
        "a_key_is_that_of_one_run",
        &[Flaw::SessionsAreIgnored, Flaw::KeysAreJoined],
    ),
    ("used_amounts_end_with_their_window", &[Flaw::WindowsDoNotEnd]),
    ("held_amounts_stay", &[Flaw::HoldsEndWithTheirWindow]),
    (
        "an_expired_hold_counts_as_used",
        &[
            Flaw::HoldsDoNotExpire,
            Flaw::HoldsExpireEarly,
            Flaw::ExpiredHoldsAreReturned,
            Flaw::ExpiredHoldsCountForTheTenant,
            Flaw::LateReportsCountTwice,
            Flaw::ExpiredOnesAreFenced,
        ],
    ),
    (
        "a_draw_renews_the_hold",
        &[
            Flaw::DrawsDoNotRenew,
            Flaw::RefusedDrawsDoNotRenew,
            Flaw::HoldsExpireEarly,
        ],
    ),
    (
        "erases_a_user",
        &[
            Flaw::QuotasSurvive,
            Flaw::UsageSurvives,
            Flaw::AllowancesSurvive,
            Flaw::ErasedHoldsAreReturned,
            Flaw::ErasedHoldsCountTwice,
            Flaw::TenantsAreErased,
            Flaw::TenantsAreMixed,
            Flaw::LinesAreUsers,
        ],
    ),
    (
        "of_concurrent_openings_one_holds",
        &[Flaw::HoldersAreReused, Flaw::HoldersAreNotChecked],
    ),
    ("sixteen_processes_start_no_run_too_many", &[Flaw::CountingRaces]),
    (
        "sixteen_processes_never_exceed_a_quota",
        &[Flaw::DrawingRaces, Flaw::OthersAreNotSeen],
    ),
    ("everything_at_once_does_no_harm", &[Flaw::BusyStoresFail]),
];

#[test]
fn each_check_of_quotas_finds_its_flaws() {
    let names: Vec<&str> = QUOTA_STORE.iter().map(StoreBehavior::name).collect();
    let covered: Vec<&str> = FLAWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, covered, "the table must list the behaviors in their order");
    for (behavior, (name, flaws)) in QUOTA_STORE.iter().zip(FLAWS) {
        assert!(passes(behavior, Flaw::None), "{name} fails without a flaw");
        for flaw in *flaws {
            assert!(!passes(behavior, *flaw), "{name} accepts {flaw:?}");
        }
    }
}
