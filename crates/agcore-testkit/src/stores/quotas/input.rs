//! Texts and numbers that are unusual or not acceptable.

use agcore_session::{
    Actor, Money, SessionErrorKind,
    id::MAX_ID_BYTES,
    quota::{AllowanceKey, QuotaAmount, QuotaDefaults, QuotaReport, QuotaScope, QuotaWindow},
};

use super::opened::{Opened, ann, bo, each_user, monthly, open, refused, report, tenant, tokens};
use crate::stores::QuotaStoreSubject;

/// Checks that quotas, owners and runs that no store can keep are refused, and that such tenants and users have nothing.
pub async fn refuses_unacceptable_input(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let (store, none) = (&opened.store, QuotaDefaults::default());
    let user = |name: &str| monthly(QuotaScope::User(name.to_owned())).with_runs(1);
    let large = i64::MAX.cast_unsigned() + 1;
    let money = |micros, currency: &str| monthly(QuotaScope::Tenant).with_money(Money::from_micros(micros, currency));
    let unacceptable = [
        monthly(QuotaScope::Tenant),
        monthly(QuotaScope::Tenant).with_runs(large),
        monthly(QuotaScope::Tenant).with_model_calls(large),
        tenant(large),
        money(-1, "EUR"),
        money(1, ""),
        money(1, "E\0R"),
        money(1, "a currency"),
        user(""),
        user("a\0"),
        user(&"x".repeat(2 << 20)),
    ];
    for quota in unacceptable {
        let refusal = refused(store.set_quota("acme", &quota).await);
        assert_eq!(refusal, SessionErrorKind::InvalidInput, "{:.100}", format!("{quota:?}"));
    }
    let long = "x".repeat(2 << 20);
    for unknown in ["", "a\0", &*long] {
        let set = store.set_quota(unknown, &tenant(1)).await;
        assert_eq!(refused(set), SessionErrorKind::InvalidInput);
        for owner in [Actor::new(unknown, "ann"), Actor::new("acme", unknown)] {
            let counted = store.count_run(&owner, &none).await;
            assert_eq!(refused(counted), SessionErrorKind::InvalidInput);
            let key = AllowanceKey::new(owner.clone(), "s", "r");
            assert_eq!(
                refused(store.open_allowance(&key, &none).await),
                SessionErrorKind::InvalidInput
            );
            assert_eq!(store.quota_usage(&owner, &none).await.unwrap(), []);
            store.uncount_run(&owner).await.unwrap();
            store.erase_quotas(&owner).await.unwrap();
        }
        for key in [
            AllowanceKey::new(ann(), unknown, "r"),
            AllowanceKey::new(ann(), "s", unknown),
        ] {
            assert_eq!(
                refused(store.open_allowance(&key, &none).await),
                SessionErrorKind::InvalidInput
            );
        }
        let scope = QuotaScope::User(unknown.to_owned());
        for (tenant, scope) in [(unknown, QuotaScope::Tenant), ("acme", scope)] {
            assert_eq!(store.quotas(tenant).await.unwrap(), []);
            assert!(!store.delete_quota(tenant, &scope, QuotaWindow::Month).await.unwrap());
        }
    }
}

/// Uses 5 of 10 tokens of a user, and erases the user.
async fn use_and_erase(opened: &Opened<'_>, key: &AllowanceKey) {
    let (tenant, owner) = (key.tenant(), &key.owner);
    let own = monthly(QuotaScope::User(key.user().to_owned())).with_tokens(10);
    opened.store.set_quota(tenant, &each_user(1)).await.unwrap();
    opened.store.set_quota(tenant, &own).await.unwrap();
    assert_eq!(opened.other.quotas(tenant).await.unwrap(), [each_user(1), own.clone()]);
    assert_eq!(opened.count_run(owner).await, Ok(()));
    let none = QuotaDefaults::default();
    let first = opened.store.open_allowance(key, &none).await.unwrap().unwrap();
    assert_eq!(opened.draw(&first, report(0, 0), &[3]).await, Ok(0));
    let second = opened.other.open_allowance(key, &none).await.unwrap().unwrap();
    assert_eq!(&second.key, key);
    opened.draw_fenced(&first).await;
    assert_eq!(opened.draw(&second, report(2, 0), &[6, 5]).await, Ok(1));
    assert_eq!(opened.taken(owner).await, (5, 5));
    opened.close(&second, 2).await;
    let usage = opened.usage(owner).await;
    assert_eq!((&usage[0].quota, usage[0].used), (&own, tokens(5).with_runs(1)));
    opened.store.erase_quotas(owner).await.unwrap();
    assert_eq!(opened.taken(owner).await, (0, 0));
    let scope = QuotaScope::EachUser;
    assert!(
        opened
            .store
            .delete_quota(tenant, &scope, QuotaWindow::Month)
            .await
            .unwrap()
    );
    assert_eq!(opened.store.quotas(tenant).await.unwrap(), []);
}

/// Checks that no character of a tenant, a user or a run has a meaning.
pub async fn special_characters_are_data(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    for odd in ["%_'\";--\\ 日本 😀\u{10}0\n", "%", "_", "tenant", "each_user", " "] {
        let key = AllowanceKey::new(Actor::new(odd, odd), odd, odd);
        use_and_erase(&opened, &key).await;
    }
}

/// Checks that ids that are as long as any may be are kept, and that all their characters count.
pub async fn the_longest_ids_are_kept(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    // They cannot be compressed.
    let mut state = 1_u32;
    let mut character = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'!' + u8::try_from((state >> 16) % 90).unwrap())
    };
    let mut id = || -> String { std::iter::repeat_with(&mut character).take(MAX_ID_BYTES).collect() };
    let (tenant, user, session, run) = (id(), id(), id(), id());
    let key = AllowanceKey::new(Actor::new(&*tenant, &*user), &*session, &*run);
    use_and_erase(&opened, &key).await;

    opened.store.set_quota(&tenant, &each_user(10)).await.unwrap();
    let none = QuotaDefaults::default();
    let first = opened.store.open_allowance(&key, &none).await.unwrap().unwrap();
    let shorter = |id: &str| id[..MAX_ID_BYTES - 1].to_owned();
    let others = [(shorter(&session), run.clone()), (session, shorter(&run))];
    for (session, run) in others {
        let key = AllowanceKey::new(key.owner.clone(), session, run);
        assert!(opened.store.open_allowance(&key, &none).await.unwrap().is_some());
    }
    assert_eq!(opened.draw(&first, report(0, 0), &[10]).await, Ok(0));
}

/// Checks that amounts that are too large for a store count as the largest that it has.
pub async fn amounts_do_not_overflow(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let most = i64::MAX.cast_unsigned();
    opened.set(tenant(most)).await;
    opened.set(monthly(QuotaScope::EachUser).with_runs(9)).await;
    let [first, second] = [opened.begin(&ann(), "a").await, opened.begin(&bo(), "b").await];
    assert_eq!(opened.draw(&first, report(0, 0), &[most]).await, Ok(0));
    for _ in 0..2 {
        assert!(opened.draw(&second, report(0, u64::MAX), &[u64::MAX, 1]).await.is_err());
        assert!(opened.taken(&ann()).await.1 >= most);
    }
    opened.close(&first, u64::MAX).await;
    opened.close(&second, u64::MAX).await;
    let (used, held) = opened.taken(&ann()).await;
    assert!(used >= most && held == 0, "{used} {held}");
    assert!(opened.count_run(&ann()).await.is_err());

    let all = QuotaAmount::new()
        .with_runs(u64::MAX)
        .with_model_calls(u64::MAX)
        .with_micros(u64::MAX);
    let third = opened.begin(&bo(), "c").await;
    let all = QuotaReport::new(all).with_in_flight(all);
    assert!(opened.store.draw(&third, &all, &[]).await.unwrap().is_ok());
    assert!(opened.usage(&bo()).await[1].used.runs >= most);
}
