//! Which quotas apply.

use agcore_session::{
    Actor, Money,
    quota::{Quota, QuotaAmount, QuotaDefaults, QuotaScope, QuotaWindow},
};

use super::opened::{ann, bo, each_user, key, monthly, open, report, tenant, tokens};
use crate::stores::QuotaStoreSubject;

/// Checks that a run to which no quota applies is not counted, and has no allowance.
pub async fn nothing_is_counted_without_quotas(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let none = QuotaDefaults::default();
    opened.store.set_quota("other", &tenant(1).with_runs(1)).await.unwrap();
    let of_bo = monthly(QuotaScope::User("bo".to_owned())).with_runs(1);
    for quota in [None, Some(of_bo)] {
        if let Some(quota) = quota {
            opened.set(quota).await;
        }
        for _ in 0..3 {
            assert_eq!(opened.count_run(&ann()).await, Ok(()));
        }
        let allowance = opened.store.open_allowance(&key(&ann(), "r"), &none).await.unwrap();
        assert_eq!(allowance, None);
        assert_eq!(opened.usage(&ann()).await, []);
    }
    assert_eq!(opened.count_run(&bo()).await, Ok(()));
    opened.set(tenant(10)).await;
    let usage = opened.usage(&ann()).await;
    assert_eq!(
        (usage[0].used, usage[0].held),
        (QuotaAmount::new().with_runs(1), tokens(0))
    );
}

/// Checks that quotas of a tenant replace the defaults with the same scope and window, and that defaults apply to all tenants.
pub async fn defaults_apply_where_nothing_is_set(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let daily = Quota::new(QuotaScope::EachUser, QuotaWindow::Day).with_tokens(500);
    let money = monthly(QuotaScope::EachUser).with_money(Money::from_micros(1, "EUR"));
    let defaults = QuotaDefaults::new([daily.clone(), tenant(100), money.clone()]).unwrap();
    let applied = async |owner: &Actor| -> Vec<Quota> {
        let usage = opened.other.quota_usage(owner, &defaults).await.unwrap();
        usage.into_iter().map(|usage| usage.quota).collect()
    };
    let all = [tenant(100), daily.clone(), money.clone()];
    assert_eq!(applied(&ann()).await, all);
    let allowance = opened.store.open_allowance(&key(&ann(), "r"), &defaults).await;
    let allowance = allowance.unwrap().unwrap();
    assert_eq!((&allowance.key, &allowance.defaults), (&key(&ann(), "r"), &defaults));
    assert_eq!(
        (allowance.currency.as_deref(), allowance.limits_replies),
        (Some("EUR"), true)
    );
    assert!(opened.draw(&allowance, report(0, 0), &[101]).await.is_err());

    opened.set(tenant(200)).await;
    opened
        .set(monthly(QuotaScope::User("ann".to_owned())).with_runs(1))
        .await;
    let [own, other] = [applied(&ann()).await, applied(&bo()).await];
    assert_eq!(own[..2], [tenant(200), daily.clone()]);
    assert_eq!((own[2].runs, &own[2].money), (Some(1), &None));
    assert_eq!(other, [tenant(200), daily, money]);
    assert_eq!(applied(&Actor::new("other", "ann")).await, all);
    assert_eq!(opened.draw(&allowance, report(0, 0), &[200]).await, Ok(0));
    let run = async || opened.store.count_run(&ann(), &defaults).await.unwrap();
    assert_eq!((run().await.is_ok(), run().await.is_ok()), (true, false));
    assert!(
        opened
            .store
            .delete_quota("acme", &QuotaScope::Tenant, QuotaWindow::Month)
            .await
            .unwrap()
    );
    assert!(opened.draw(&allowance, report(0, 0), &[101]).await.is_err());

    // Runs do not depend on the length of replies.
    opened
        .store
        .set_quota("runs", &monthly(QuotaScope::Tenant).with_runs(1))
        .await
        .unwrap();
    let allowance = opened.begin(&Actor::new("runs", "ann"), "r").await;
    assert_eq!((allowance.currency, allowance.limits_replies), (None, false));
}

/// Checks that what was used before a quota was set counts for it, in windows of every length, of the tenant and of the user.
pub async fn a_new_quota_counts_what_was_used_before(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(each_user(100)).await;
    opened.spend(&ann(), "a", 40).await;
    let held = opened.begin(&bo(), "b").await;
    assert_eq!(opened.draw(&held, report(10, 0), &[5]).await, Ok(0));
    opened.set(tenant(100)).await;
    opened
        .set(Quota::new(QuotaScope::Tenant, QuotaWindow::Day).with_tokens(100))
        .await;
    opened
        .set(Quota::new(QuotaScope::User("ann".to_owned()), QuotaWindow::Day).with_tokens(100))
        .await;
    let usage = opened.usage(&ann()).await;
    let taken: Vec<_> = usage
        .iter()
        .map(|usage| (usage.used.tokens, usage.held.tokens))
        .collect();
    assert_eq!(taken, [(50, 5), (50, 5), (40, 0), (40, 0)]);
}

/// Checks that a quota below the amount used refuses everything, and that one that is higher again does not.
pub async fn a_lower_quota_admits_nothing_more(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    let allowance = opened.begin(&ann(), "r").await;
    assert_eq!(opened.draw(&allowance, report(60, 0), &[20]).await, Ok(0));
    opened.set(tenant(50)).await;
    assert_eq!(opened.taken(&bo()).await, (60, 20));
    let shortage = opened.draw(&allowance, report(60, 20), &[1]).await.unwrap_err();
    assert_eq!((shortage.limit, shortage.used, shortage.held), (50, 60, 20));
    assert!(!shortage.is_temporary());
    assert_eq!(opened.draw(&allowance, report(60, 20), &[]).await, Ok(0));
    assert!(opened.count_run(&bo()).await.is_err());
    opened.set(tenant(90)).await;
    assert_eq!(opened.draw(&allowance, report(70, 10), &[11, 10]).await, Ok(1));
    assert_eq!(opened.count_run(&bo()).await, Ok(()));
}

/// Checks that the quota of a user replaces that of each user with the same window, and no other.
pub async fn a_quota_of_a_user_replaces_that_of_each_user(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(each_user(10)).await;
    opened
        .set(Quota::new(QuotaScope::EachUser, QuotaWindow::Day).with_tokens(40))
        .await;
    opened
        .set(monthly(QuotaScope::User("ann".to_owned())).with_tokens(100))
        .await;
    let [of_ann, of_bo] = [opened.begin(&ann(), "a").await, opened.begin(&bo(), "b").await];
    let shortage = opened.draw(&of_ann, report(0, 0), &[41]).await.unwrap_err();
    assert_eq!(
        (shortage.scope, shortage.window),
        (QuotaScope::EachUser, QuotaWindow::Day)
    );
    assert_eq!(opened.draw(&of_ann, report(0, 0), &[40]).await, Ok(0));
    let shortage = opened.draw(&of_bo, report(0, 0), &[11]).await.unwrap_err();
    assert_eq!(
        (shortage.scope, shortage.window),
        (QuotaScope::EachUser, QuotaWindow::Month)
    );
    assert_eq!(opened.draw(&of_bo, report(0, 0), &[10]).await, Ok(0));
    opened
        .set(monthly(QuotaScope::User("ann".to_owned())).with_tokens(30))
        .await;
    let shortage = opened.draw(&of_ann, report(0, 0), &[31]).await.unwrap_err();
    assert_eq!(shortage.scope, QuotaScope::User("ann".to_owned()));
}
