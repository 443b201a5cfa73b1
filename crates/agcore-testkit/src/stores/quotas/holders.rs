//! Opening and closing allowances, and erasing those of a user.

use std::{collections::BTreeSet, sync::Arc};

use agcore_session::{
    Actor, SessionErrorKind,
    quota::{AllowanceKey, QuotaDefaults, QuotaScope},
};
use futures_util::future::join_all;

use super::opened::{ann, bo, each_user, key, monthly, open, refused, report, tenant, tokens};
use crate::stores::QuotaStoreSubject;

/// Checks that what an allowance holds is available again when it is closed, and that a closed one does nothing any more.
pub async fn closing_returns_what_is_unused(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    let allowance = opened.begin(&ann(), "r").await;
    assert_eq!(opened.draw(&allowance, report(20, 30), &[50]).await, Ok(0));
    opened.close(&allowance, 35).await;
    assert_eq!(opened.taken(&ann()).await, (35, 0));
    for _ in 0..2 {
        opened.close(&allowance, 90).await;
        opened.draw_fenced(&allowance).await;
        assert_eq!(opened.taken(&ann()).await, (35, 0));
    }
    let again = opened.begin(&ann(), "r").await;
    opened.draw_fenced(&allowance).await;
    opened.close(&allowance, 90).await;
    assert_eq!(opened.draw(&again, report(0, 0), &[66, 65]).await, Ok(1));
    opened.close(&again, 5).await;
    assert_eq!(opened.taken(&ann()).await, (40, 0));
    // One that was not drawn from.
    let unused = opened.begin(&ann(), "unused").await;
    opened.close(&unused, 0).await;
    opened.draw_fenced(&unused).await;
}

/// Checks that an allowance that is opened again has a new holder, who reports from zero; that what the earlier one held counts as
/// used; and that the earlier one does nothing any more.
pub async fn a_reopened_allowance_has_another_holder(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    opened.set(each_user(100)).await;
    let first = opened.begin(&ann(), "r").await;
    assert_eq!(opened.draw(&first, report(10, 5), &[20]).await, Ok(0));
    let again = opened.other.open_allowance(&first.key, &QuotaDefaults::default()).await;
    let second = again.unwrap().unwrap();
    assert_ne!(second.holder, first.holder);
    for usage in opened.usage(&ann()).await {
        assert_eq!((usage.used, usage.held), (tokens(35), tokens(0)));
    }
    for _ in 0..2 {
        opened.draw_fenced(&first).await;
        opened.close(&first, 30).await;
        assert_eq!(opened.taken(&ann()).await, (35, 0));
    }
    assert_eq!(opened.draw(&second, report(10, 0), &[56, 55]).await, Ok(1));
    assert_eq!(opened.taken(&ann()).await, (45, 55));
    opened.close(&first, 30).await;
    opened.close(&second, 40).await;
    assert_eq!(opened.taken(&ann()).await, (75, 0));
}

/// Checks that runs of the same name in other sessions, and other runs of a session, have allowances of their own.
pub async fn a_key_is_that_of_one_run(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    let mut allowances = Vec::new();
    let keys = [
        ("a", "b"),
        ("a", "a"),
        ("b", "b"),
        ("ab", "c"),
        ("a", "bc"),
        ("a/b", "c"),
        ("a", "b/c"),
    ];
    for (session, run) in keys {
        let key = AllowanceKey::new(ann(), session, run);
        let opened = opened.store.open_allowance(&key, &QuotaDefaults::default()).await;
        allowances.push(opened.unwrap().unwrap());
    }
    for allowance in &allowances {
        assert_eq!(opened.draw(allowance, report(1, 0), &[2]).await, Ok(0));
    }
    assert_eq!(opened.taken(&ann()).await, (7, 14));
    opened.close(&allowances[0], 1).await;
    opened.draw_fenced(&allowances[0]).await;
    assert_eq!(opened.taken(&ann()).await, (7, 12));
}

/// Checks that of sixteen processes that open the same allowance at once, one holds it.
pub async fn of_concurrent_openings_one_holds(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100)).await;
    for round in 0..4 {
        let run = round.to_string();
        let processes = (0..16).map(|process| {
            let store = Arc::clone(if process % 2 == 0 { &opened.store } else { &opened.other });
            let key = key(&ann(), &run);
            async move {
                let allowance = store.open_allowance(&key, &QuotaDefaults::default()).await;
                let allowance = allowance.unwrap().unwrap();
                tokio::task::yield_now().await;
                (
                    allowance.clone(),
                    store.draw(&allowance, &report(0, 0), &[tokens(1)]).await,
                )
            }
        });
        let all = join_all(processes).await;
        let holders: BTreeSet<&str> = all.iter().map(|(allowance, _)| &*allowance.holder).collect();
        assert_eq!(holders.len(), 16);
        let mut held = Vec::new();
        for (allowance, _) in &all {
            // Some have held it before others opened it.
            match opened.store.draw(allowance, &report(0, 0), &[tokens(1)]).await {
                Ok(draw) => held.push(draw),
                Err(error) => assert_eq!(error.kind(), SessionErrorKind::Fenced),
            }
        }
        assert_eq!(held, [Ok(0)]);
        let drawn = all.iter().filter(|(_, draw)| draw.is_ok()).count() as u64;
        let (used, held) = opened.taken(&ann()).await;
        // What the earlier holders held counts as used.
        assert!(
            held == round + 1 && used <= 16 * (round + 1) && drawn >= 1,
            "{used} {held}"
        );
        let lost = all.into_iter().filter(|(_, draw)| draw.is_err());
        for (_, draw) in lost {
            assert_eq!(refused(draw), SessionErrorKind::Fenced);
        }
    }
}

/// Checks that nothing about a user is left: the user's quotas, the amounts used and the allowances. The amounts of the tenant
/// stay, with those that the user's allowances held, and so does everything of others.
pub async fn erases_a_user(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    let (of_ann, of_an) = (QuotaScope::User("ann".to_owned()), QuotaScope::User("an".to_owned()));
    let others = [tenant(1000), each_user(90), monthly(of_an).with_tokens(80)];
    for quota in &others {
        opened.set(quota.clone()).await;
        opened.store.set_quota("other", quota).await.unwrap();
    }
    opened.set(monthly(of_ann).with_tokens(100)).await;
    let elsewhere = Actor::new("other", "ann");
    let mut allowances = Vec::new();
    for (owner, run) in [
        (ann(), "1"),
        (ann(), "2"),
        (bo(), "3"),
        (Actor::new("acme", "an"), "4"),
        (elsewhere.clone(), "5"),
    ] {
        allowances.push(opened.begin(&owner, run).await);
    }
    for allowance in &allowances {
        assert_eq!(opened.draw(allowance, report(10, 3), &[20]).await, Ok(0));
    }
    assert_eq!(opened.count_run(&ann()).await, Ok(()));
    opened.store.erase_quotas(&ann().with_line("sales")).await.unwrap();

    assert_eq!(opened.other.quotas("acme").await.unwrap(), others);
    let usage = opened.usage(&ann()).await;
    assert_eq!(usage[0].used, tokens(40 + 2 * 23).with_runs(1));
    assert_eq!(usage[0].held, tokens(2 * 23));
    assert_eq!(
        (&usage[1].quota, usage[1].used, usage[1].held),
        (&others[1], tokens(0), tokens(0))
    );
    for allowance in &allowances[..2] {
        opened.draw_fenced(allowance).await;
        opened.close(allowance, 99).await;
    }
    assert_eq!(opened.taken(&ann()).await, (86, 46));
    for allowance in &allowances[2..] {
        assert_eq!(opened.usage(&allowance.key.owner).await[1].used, tokens(10));
        assert_eq!(opened.draw(allowance, report(11, 0), &[]).await, Ok(0));
    }
    assert_eq!(
        (opened.taken(&bo()).await, opened.taken(&elsewhere).await),
        ((88, 0), (11, 0))
    );
    // The user may come back.
    opened.spend(&ann(), "1", 90).await;
    assert_eq!(opened.usage(&ann()).await[1].used, tokens(90));
    assert_eq!(opened.taken(&bo()).await, (178, 0));
    opened.store.erase_quotas(&Actor::new("unknown", "ann")).await.unwrap();
}
