//! Many processes at the same time.

use std::sync::Arc;

use agcore_session::{
    Actor, SessionErrorKind,
    quota::{QuotaAmount, QuotaDefaults, QuotaReport, QuotaScope, QuotaStore},
};
use futures_util::future::join_all;

use super::opened::{Opened, each_user, key, monthly, open, report, tenant, tokens};
use crate::stores::QuotaStoreSubject;

const PROCESSES: u64 = 16;

/// Returns the store and the owner for which a process works. Four processes work for a user.
fn part(opened: &Opened<'_>, process: u64) -> (Arc<dyn QuotaStore>, Actor) {
    let store = if process.is_multiple_of(2) {
        &opened.store
    } else {
        &opened.other
    };
    (Arc::clone(store), Actor::new("acme", format!("user {}", process / 4)))
}

/// Checks that sixteen processes that start runs at once start as many as the quotas allow.
pub async fn sixteen_processes_start_no_run_too_many(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(monthly(QuotaScope::Tenant).with_runs(21)).await;
    opened.set(monthly(QuotaScope::EachUser).with_runs(7)).await;
    let processes = (0..PROCESSES).map(|process| {
        let (store, owner) = part(&opened, process);
        async move {
            let mut started = 0;
            for _ in 0..3 {
                let counted = store.count_run(&owner, &QuotaDefaults::default()).await.unwrap();
                started += u64::from(counted.is_ok());
                tokio::task::yield_now().await;
            }
            started
        }
    });
    let started = join_all(processes).await;
    assert_eq!(started.iter().sum::<u64>(), 21);
    for (user, of_user) in started.chunks(4).enumerate() {
        let usage = opened.usage(&Actor::new("acme", format!("user {user}"))).await;
        assert_eq!((usage[0].used.runs, usage[1].used.runs), (21, of_user.iter().sum()));
        assert!(usage[1].used.runs <= 7);
    }
}

/// Draws and uses as much as it gets, until nothing fits. Returns the amount used.
async fn draw_all(store: &dyn QuotaStore, owner: &Actor, run: &str) -> u64 {
    let allowance = store.open_allowance(&key(owner, run), &QuotaDefaults::default()).await;
    let allowance = allowance.unwrap().unwrap();
    let wanted = [7, 3, 1].map(tokens);
    let mut spent = 0;
    loop {
        let draw = store.draw(&allowance, &report(spent, 0), &wanted).await.unwrap();
        for usage in store.quota_usage(owner, &QuotaDefaults::default()).await.unwrap() {
            let taken = usage.used.tokens + usage.held.tokens;
            assert!(Some(taken) <= usage.quota.tokens, "{usage:?}");
        }
        tokio::task::yield_now().await;
        match draw {
            Ok(index) => spent += wanted[index].tokens,
            Err(_) => break,
        }
    }
    store.close_allowance(&allowance, &tokens(spent)).await.unwrap();
    spent
}

/// Checks that what sixteen processes use and hold together never exceeds a quota, and that they can use all of it.
pub async fn sixteen_processes_never_exceed_a_quota(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(200)).await;
    opened.set(each_user(60)).await;
    let processes = (0..PROCESSES).map(|process| {
        let (store, owner) = part(&opened, process);
        async move { draw_all(&*store, &owner, &process.to_string()).await }
    });
    let spent = join_all(processes).await;
    assert_eq!(spent.iter().sum::<u64>(), 200);
    for (user, of_user) in spent.chunks(4).enumerate() {
        let usage = opened.usage(&Actor::new("acme", format!("user {user}"))).await;
        assert_eq!((usage[0].used, usage[0].held), (tokens(200), tokens(0)));
        assert_eq!(
            (usage[1].used, usage[1].held),
            (tokens(of_user.iter().sum()), tokens(0))
        );
    }
}

/// Does a bit of everything. Returns the number of draws that were fenced.
async fn use_everything(store: &dyn QuotaStore, owner: &Actor, process: u64) -> u64 {
    let (none, mut fenced) = (QuotaDefaults::default(), 0);
    let own = monthly(QuotaScope::User(owner.user.to_string())).with_tokens(1000 + process);
    for round in 0..4 {
        store.set_quota(&owner.tenant, &own).await.unwrap();
        let _ = store.count_run(owner, &none).await.unwrap();
        let key = key(owner, &round.to_string());
        let allowance = store.open_allowance(&key, &none).await.unwrap().unwrap();
        for amount in [1, 2] {
            let reported = QuotaReport::new(tokens(amount - 1));
            let wanted = [QuotaAmount::new().with_tokens(1), QuotaAmount::new()];
            match store.draw(&allowance, &reported, &wanted).await {
                Ok(draw) => assert!(draw.is_ok()),
                Err(error) => {
                    assert_eq!(error.kind(), SessionErrorKind::Fenced);
                    fenced += 1;
                }
            }
        }
        store.quota_usage(owner, &none).await.unwrap();
        if (round + process).is_multiple_of(3) {
            // A database may report that it keeps copies in a log for as long as others read.
            if let Err(error) = store.erase_quotas(owner).await {
                assert_eq!(error.kind(), SessionErrorKind::Unavailable);
            }
        }
        store.close_allowance(&allowance, &tokens(2)).await.unwrap();
        store.quotas(&owner.tenant).await.unwrap();
    }
    fenced
}

/// Checks that no call fails when everything happens at once: quotas are set, runs are counted, allowances are opened, drawn from
/// and closed, and users are erased.
pub async fn everything_at_once_does_no_harm(subject: &dyn QuotaStoreSubject) {
    let opened = open(subject).await;
    opened.set(tenant(100_000)).await;
    let processes = (0..PROCESSES).map(|process| {
        let (store, owner) = part(&opened, process);
        async move { use_everything(&*store, &owner, process).await }
    });
    let fenced: u64 = join_all(processes).await.into_iter().sum();
    let usage = opened.usage(&Actor::new("acme", "user 0")).await;
    assert_eq!(usage[0].used.runs, PROCESSES * 4);
    // No run has used more than two tokens, and none of them is still held.
    assert!(usage[0].used.tokens <= PROCESSES * 4 * 2 && fenced <= PROCESSES * 4 * 2);
    assert_eq!(usage[0].held, tokens(0));
}
