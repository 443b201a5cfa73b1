//! Drawing and reporting.

use std::collections::BTreeSet;

use agcore_session::{
    Actor, Money, Timestamp,
    quota::{QuotaAmount, QuotaDefaults, QuotaReport, QuotaResource, QuotaScope, QuotaShortage, QuotaWindow},
};

use super::opened::{ann, bo, each_user, monthly, open, report, tenant, tokens};
use crate::stores::QuotaStoreSubject;

/// Returns the resource, the limit, and the amounts that are used, held and wanted.
fn parts(shortage: &QuotaShortage) -> (QuotaResource, [u64; 4]) {
    let amounts = [shortage.limit, shortage.used, shortage.held, shortage.wanted];
    (shortage.resource, amounts)
}

/// Checks that the first of several amounts that fits is held, instead of what was held before.
pub async fn a_draw_holds_the_first_that_fits(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    let allowance = opened.begin(&ann(), "r").await;
    let cases: [(&[u64], usize, u64); 6] = [
        (&[101, 100, 99], 1, 100),
        (&[100], 0, 100),
        (&[200, 150, 7], 2, 7),
        (&[5, 6], 0, 5),
        (&[], 0, 0),
        (&[0, 50], 0, 0),
    ];
    for (wanted, index, held) in cases {
        assert_eq!(opened.draw(&allowance, report(0, 0), wanted).await, Ok(index));
        assert_eq!(opened.taken(&bo()).await, (0, held), "{wanted:?}");
    }
}

/// Checks that a draw that is refused reports what was used, and holds what calls in flight may use only; and that the shortage is
/// that of the last amount.
pub async fn a_refused_draw_changes_only_the_report(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    let [first, second] = [opened.begin(&ann(), "a").await, opened.begin(&bo(), "b").await];
    assert_eq!(opened.draw(&first, report(0, 0), &[60]).await, Ok(0));
    assert_eq!(opened.draw(&second, report(0, 0), &[40]).await, Ok(0));
    let shortage = opened.draw(&second, report(10, 5), &[90, 26]).await.unwrap_err();
    assert_eq!(parts(&shortage), (QuotaResource::Tokens, [100, 10, 65, 26]));
    assert_eq!(
        (&shortage.scope, shortage.window),
        (&QuotaScope::Tenant, QuotaWindow::Month)
    );
    assert_eq!(shortage.currency, None);
    assert!(shortage.is_temporary());
    assert_eq!(shortage.resets_at, opened.usage(&bo()).await[0].resets_at);
    let window = shortage.window;
    assert_eq!(window.start(shortage.resets_at), shortage.resets_at);
    let earlier = shortage.resets_at.as_millis() - i64::try_from(shortage.resets_in.as_millis()).unwrap();
    assert_eq!(window.end(Timestamp::from_millis(earlier)), shortage.resets_at);
    assert_eq!(opened.taken(&ann()).await, (10, 65));
    assert_eq!(opened.draw(&second, report(10, 5), &[25]).await, Ok(0));
    assert_eq!(opened.taken(&ann()).await, (10, 90));
}

/// Checks that a report that is repeated, or arrives after a later one, counts nothing more.
pub async fn reports_are_totals(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    let allowance = opened.begin(&ann(), "r").await;
    for (spent, used) in [(10, 10), (10, 10), (25, 25), (20, 25), (0, 25), (30, 30)] {
        assert_eq!(opened.draw(&allowance, report(spent, 0), &[]).await, Ok(0));
        assert_eq!(opened.taken(&ann()).await, (used, 0), "after {spent}");
    }
    opened.close(&allowance, 30).await;
    assert_eq!(opened.taken(&ann()).await, (30, 0));
    // Another run begins at zero.
    opened.spend(&ann(), "other", 12).await;
    assert_eq!(opened.taken(&bo()).await, (42, 0));
}

/// Checks that all of a report counts, even if it exceeds the quota, and that a quota that is used up refuses what it limits only.
pub async fn a_call_may_use_more_than_it_held(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    let allowance = opened.begin(&ann(), "r").await;
    assert_eq!(opened.draw(&allowance, report(0, 0), &[100]).await, Ok(0));
    let shortage = opened.draw(&allowance, report(130, 7), &[50, 1]).await.unwrap_err();
    assert_eq!(parts(&shortage), (QuotaResource::Tokens, [100, 130, 7, 1]));
    assert!(!shortage.is_temporary());
    let free = [tokens(1), QuotaAmount::new().with_model_calls(3).with_micros(5)];
    let draw = opened.store.draw(&allowance, &report(130, 0), &free).await.unwrap();
    assert_eq!(draw, Ok(1));
    opened.close(&allowance, 140).await;
    assert_eq!(opened.taken(&ann()).await, (140, 0));
}

/// Checks that an amount must fit the limits of all resources, and that each is counted for itself.
pub async fn each_resource_is_limited(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let quota = tenant(100)
        .with_model_calls(3)
        .with_money(Money::from_micros(50, "EUR"));
    opened.set(quota).await;
    opened.set(monthly(QuotaScope::EachUser).with_runs(1)).await;
    let allowance = opened.begin(&ann(), "r").await;
    let amount = |calls: u64, tokens: u64, micros: u64| {
        QuotaAmount::new()
            .with_model_calls(calls)
            .with_tokens(tokens)
            .with_micros(micros)
    };
    let reported = QuotaReport::new(amount(1, 60, 20)).with_in_flight(amount(1, 10, 10));
    let draw = async |wanted: QuotaAmount| {
        let draw = opened.store.draw(&allowance, &reported, &[wanted]).await.unwrap();
        draw.map_err(|shortage| parts(&shortage))
    };
    assert_eq!(
        draw(amount(2, 30, 20)).await,
        Err((QuotaResource::ModelCalls, [3, 1, 1, 2]))
    );
    assert_eq!(
        draw(amount(1, 31, 20)).await,
        Err((QuotaResource::Tokens, [100, 60, 10, 31]))
    );
    assert_eq!(
        draw(amount(1, 30, 21)).await,
        Err((QuotaResource::Money, [50, 20, 10, 21]))
    );
    assert_eq!(draw(amount(1, 30, 20)).await, Ok(0));
    let usage = opened.usage(&ann()).await;
    for usage in &usage {
        assert_eq!((usage.used, usage.held), (amount(1, 60, 20), amount(2, 40, 30)));
    }
    // A run is counted when it starts, not when it is worked on.
    assert_eq!(opened.count_run(&ann()).await, Ok(()));
    assert_eq!(opened.usage(&ann()).await[1].used, amount(1, 60, 20).with_runs(1));
}

/// Checks that a shortage of money has the currency of the quota.
pub async fn money_has_a_currency(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened
        .set(tenant(10).with_money(Money::from_micros(2_000_000, "CHF")))
        .await;
    let allowance = opened.begin(&ann(), "r").await;
    assert_eq!(
        (allowance.currency.as_deref(), allowance.limits_replies),
        (Some("CHF"), true)
    );
    let wanted = [QuotaAmount::new().with_micros(2_000_001)];
    let draw = opened
        .store
        .draw(&allowance, &QuotaReport::default(), &wanted)
        .await
        .unwrap();
    let shortage = draw.unwrap_err();
    assert_eq!(parts(&shortage), (QuotaResource::Money, [2_000_000, 0, 0, 2_000_001]));
    assert_eq!(shortage.currency.as_deref(), Some("CHF"));
    let shortage = opened.draw(&allowance, report(0, 0), &[11]).await.unwrap_err();
    assert_eq!((shortage.resource, shortage.currency), (QuotaResource::Tokens, None));
}

/// Checks that what the runs of a user hold is not available to others of the tenant until it is returned.
pub async fn what_others_hold_is_not_available(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    let first = opened.begin(&ann(), "a").await;
    let [second, third] = [opened.begin(&ann(), "b").await, opened.begin(&bo(), "c").await];
    assert_eq!(opened.draw(&first, report(0, 0), &[50]).await, Ok(0));
    assert_eq!(opened.draw(&second, report(0, 0), &[51, 30]).await, Ok(1));
    assert_eq!(opened.draw(&third, report(0, 0), &[21, 20]).await, Ok(1));
    assert_eq!(opened.taken(&ann()).await, (0, 100));
    let shortage = opened.draw(&third, report(0, 20), &[1]).await.unwrap_err();
    assert!(shortage.is_temporary());
    // Half of it was used; the other half is available again.
    assert_eq!(opened.draw(&first, report(25, 0), &[]).await, Ok(0));
    assert_eq!(opened.draw(&third, report(0, 20), &[26, 25]).await, Ok(1));
    assert_eq!(opened.taken(&ann()).await, (25, 75));
}

/// Checks that a draw must fit the quota of the tenant and that of the user, whatever the line of business is, and that a user
/// takes nothing from that of another.
pub async fn the_tenant_and_each_user_are_limited(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    opened.set(each_user(60)).await;
    let sales = ann().with_line("sales");
    let [of_ann, of_sales, of_bo] = [
        opened.begin(&ann(), "a").await,
        opened.begin(&sales, "s").await,
        opened.begin(&bo(), "b").await,
    ];
    assert_eq!(opened.draw(&of_ann, report(20, 0), &[30]).await, Ok(0));
    let shortage = opened.draw(&of_sales, report(0, 0), &[11]).await.unwrap_err();
    assert_eq!(
        (&shortage.scope, parts(&shortage).1),
        (&QuotaScope::EachUser, [60, 20, 30, 11])
    );
    let shortage = opened.draw(&of_bo, report(0, 0), &[61, 51]).await.unwrap_err();
    assert_eq!(
        (&shortage.scope, parts(&shortage).1),
        (&QuotaScope::Tenant, [100, 20, 30, 51])
    );
    assert_eq!(opened.draw(&of_sales, report(0, 0), &[10]).await, Ok(0));
    assert_eq!(opened.draw(&of_bo, report(0, 0), &[41, 40]).await, Ok(1));
    for (owner, own) in [
        (ann(), (20, 40)),
        (sales, (20, 40)),
        (bo(), (0, 40)),
        (Actor::new("acme", "cy"), (0, 0)),
    ] {
        let usage = opened.usage(&owner).await;
        let taken: Vec<_> = usage
            .iter()
            .map(|usage| (usage.used.tokens, usage.held.tokens))
            .collect();
        assert_eq!(taken, [(20, 80), own], "{owner}");
    }
}

/// Checks that tenants share neither quotas nor amounts, even if their users, sessions and runs have the same names.
pub async fn keeps_tenants_apart(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let owners = ["a", "b"].map(|tenant| Actor::new(tenant, "ann"));
    let mut allowances = Vec::new();
    for owner in &owners {
        opened
            .store
            .set_quota(&owner.tenant, &tenant(100).with_runs(1))
            .await
            .unwrap();
        allowances.push(opened.begin(owner, "r").await);
    }
    let holders: BTreeSet<&str> = allowances.iter().map(|allowance| &*allowance.holder).collect();
    assert_eq!(holders.len(), 2, "each allowance has a holder of its own");
    assert_eq!(opened.draw(&allowances[0], report(30, 0), &[70]).await, Ok(0));
    assert_eq!(opened.draw(&allowances[1], report(20, 0), &[80]).await, Ok(0));
    assert_eq!(opened.count_run(&owners[0]).await, Ok(()));
    assert_eq!(
        (opened.taken(&owners[0]).await, opened.taken(&owners[1]).await),
        ((30, 70), (20, 80))
    );
    opened.store.erase_quotas(&owners[0]).await.unwrap();
    opened
        .store
        .delete_quota("a", &QuotaScope::Tenant, QuotaWindow::Month)
        .await
        .unwrap();
    assert_eq!(opened.draw(&allowances[1], report(20, 0), &[81, 80]).await, Ok(1));
    assert_eq!(opened.count_run(&owners[1]).await, Ok(()));
    assert_eq!(opened.taken(&owners[1]).await, (20, 80));
    let none = QuotaDefaults::default();
    assert_eq!(opened.store.quota_usage(&owners[0], &none).await.unwrap(), []);
}
