//! Setting, reading and deleting quotas.

use agcore_session::{
    Actor, Money, SessionErrorKind,
    quota::{Quota, QuotaDefaults, QuotaScope, QuotaWindow},
};

use super::opened::{ann, bo, each_user, key, monthly, open, refused, report, tenant, tokens};
use crate::stores::QuotaStoreSubject;

fn user(name: &str) -> QuotaScope {
    QuotaScope::User(name.to_owned())
}

/// Checks that a quota is read as it was set.
pub async fn keeps_every_member(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let full = Quota::new(user("ann"), QuotaWindow::Hour)
        .with_runs(1)
        .with_model_calls(2)
        .with_tokens(3)
        .with_money(Money::from_micros(4, "EUR"));
    let most = i64::MAX.cast_unsigned();
    let alone = [
        Quota::new(QuotaScope::Tenant, QuotaWindow::Minute).with_runs(0),
        Quota::new(QuotaScope::Tenant, QuotaWindow::Hour).with_model_calls(most),
        Quota::new(QuotaScope::Tenant, QuotaWindow::Day).with_tokens(most),
        Quota::new(QuotaScope::Tenant, QuotaWindow::Month).with_money(Money::from_micros(i64::MAX, "EUR")),
    ];
    opened.set(full.clone()).await;
    for quota in &alone {
        opened.set(quota.clone()).await;
    }
    let found = opened.other.quotas("acme").await.unwrap();
    assert_eq!(found[..4], alone);
    assert_eq!(found[4..], [full]);
    assert_eq!(opened.store.quotas("other").await.unwrap(), []);
}

/// Checks that a quota replaces the one with its scope and window as a whole, and that the amounts used stay.
pub async fn a_quota_replaces_the_same_one(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let daily = Quota::new(QuotaScope::EachUser, QuotaWindow::Day).with_tokens(70);
    let of_ann = monthly(user("ann")).with_tokens(60);
    opened.set(daily.clone()).await;
    opened.set(of_ann.clone()).await;
    opened.set(each_user(100).with_runs(9)).await;
    opened.spend(&bo(), "r", 5).await;
    opened.set(each_user(50)).await;
    let all = [daily, each_user(50), of_ann];
    assert_eq!(opened.other.quotas("acme").await.unwrap(), all);
    let usage = opened.usage(&bo()).await;
    assert_eq!((&usage[1].quota, usage[1].used), (&all[1], tokens(5)));
}

/// Checks that quotas are listed in the order of their scopes, of the users, and of the lengths of their windows; and those that
/// apply to a user likewise.
pub async fn lists_quotas_by_scope_and_window(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let users = ["B", "a", "aa", "b", "each_user", "é"].map(user);
    let mut all = Vec::new();
    for scope in [QuotaScope::Tenant, QuotaScope::EachUser].into_iter().chain(users) {
        all.extend(QuotaWindow::ALL.map(|window| Quota::new(scope.clone(), window).with_runs(1)));
    }
    for quota in all.iter().rev() {
        opened.set(quota.clone()).await;
    }
    assert_eq!(opened.other.quotas("acme").await.unwrap(), all);
    for (name, own) in [("a", user("a")), ("unknown", QuotaScope::EachUser)] {
        let usage = opened.usage(&Actor::new("acme", name)).await.into_iter();
        let expected = all
            .iter()
            .filter(|quota| [&QuotaScope::Tenant, &own].contains(&&quota.scope));
        assert!(usage.map(|usage| usage.quota).eq(expected.cloned()), "{name}");
    }
}

/// Checks that a quota that was deleted limits nothing, and that the others do.
pub async fn deletes_a_quota(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let daily = Quota::new(QuotaScope::Tenant, QuotaWindow::Day).with_tokens(1000);
    opened.set(tenant(10)).await;
    opened.set(daily.clone()).await;
    opened.set(each_user(20)).await;
    opened.set(monthly(user("ann")).with_tokens(30)).await;
    let allowance = opened.begin(&ann(), "r").await;
    let delete = async |scope: QuotaScope| {
        let deleted = opened.store.delete_quota("acme", &scope, QuotaWindow::Month);
        deleted.await.unwrap()
    };
    assert!(!delete(user("bo")).await);
    let scopes = [QuotaScope::Tenant, user("ann"), QuotaScope::EachUser];
    for (scope, used) in scopes.into_iter().zip([10, 30, 20]) {
        assert!(opened.draw(&allowance, report(0, 0), &[used + 1]).await.is_err());
        assert!(delete(scope.clone()).await);
        assert!(!delete(scope).await);
        let draw = opened.draw(&allowance, report(0, 0), &[used + 1]).await;
        assert_eq!(draw.is_ok(), used != 30, "that of each user applies instead");
    }
    assert_eq!(opened.other.quotas("acme").await.unwrap(), [daily]);
    assert!(opened.draw(&allowance, report(0, 0), &[1001]).await.is_err());
}

/// Checks that quotas of a tenant in two currencies are refused, and so are those of the tenant and defaults.
pub async fn a_tenant_has_one_currency(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let limited = |scope, currency: &str| monthly(scope).with_money(Money::from_micros(10, currency));
    opened.set(limited(QuotaScope::Tenant, "EUR")).await;
    let other = opened.store.set_quota("acme", &limited(user("bo"), "USD")).await;
    assert_eq!(refused(other), SessionErrorKind::InvalidInput);
    opened
        .store
        .set_quota("other", &limited(user("bo"), "USD"))
        .await
        .unwrap();
    // The only one may change.
    opened.set(limited(QuotaScope::Tenant, "USD")).await;
    opened.set(limited(user("bo"), "USD")).await;
    assert_eq!(opened.other.quotas("acme").await.unwrap().len(), 2);

    let euros = QuotaDefaults::new([limited(QuotaScope::EachUser, "EUR")]).unwrap();
    let (store, of_ann) = (&opened.store, key(&ann(), "r"));
    let usage = store.quota_usage(&ann(), &euros).await;
    assert_eq!(refused(usage), SessionErrorKind::InvalidInput);
    assert_eq!(
        refused(store.count_run(&ann(), &euros).await),
        SessionErrorKind::InvalidInput
    );
    assert_eq!(
        refused(store.open_allowance(&of_ann, &euros).await),
        SessionErrorKind::InvalidInput
    );

    // The quota of the user replaces the default.
    let allowance = store.open_allowance(&key(&bo(), "r"), &euros).await.unwrap().unwrap();
    assert!(opened.draw(&allowance, report(0, 0), &[5]).await.is_ok());
    assert!(
        store
            .delete_quota("acme", &user("bo"), QuotaWindow::Month)
            .await
            .unwrap()
    );
    let draw = store.draw(&allowance, &report(5, 0), &[tokens(7)]).await;
    assert_eq!(refused(draw), SessionErrorKind::InvalidInput);
    assert_eq!(opened.taken(&bo()).await, (0, 5));
    opened.close(&allowance, 5).await;
    assert_eq!(opened.taken(&bo()).await, (5, 0));
}
