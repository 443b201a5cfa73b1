//! Quotas in a database: many who draw at the same time, and allowances that are never closed.

use agcore_session::{
    Actor,
    quota::{
        Allowance, AllowanceKey, Quota, QuotaAmount, QuotaDefaults, QuotaReport, QuotaScope, QuotaStore, QuotaUsage,
        QuotaWindow,
    },
};
use futures_util::future::join_all;

/// The tokens of the tenant and of each user, who share them.
const LIMIT: u64 = 4_000;
const OF_USER: u64 = 1_500;

/// The tasks of a process, each for a run of its own.
pub(crate) const TASKS: usize = 16;

fn tokens(tokens: u64) -> QuotaAmount {
    QuotaAmount::new().with_tokens(tokens)
}

pub(crate) fn key(user: &str, run: &str) -> AllowanceKey {
    AllowanceKey::new(Actor::new("acme", user), "s", run)
}

/// Sets quotas for a month, which does not end within most tests.
pub(crate) async fn limit(store: &dyn QuotaStore) {
    for (scope, limit) in [(QuotaScope::Tenant, LIMIT), (QuotaScope::EachUser, OF_USER)] {
        let quota = Quota::new(scope, QuotaWindow::Month).with_tokens(limit);
        store.set_quota("acme", &quota).await.unwrap();
    }
}

pub(crate) async fn open(store: &dyn QuotaStore, key: &AllowanceKey) -> Option<Allowance> {
    store.open_allowance(key, &QuotaDefaults::default()).await.unwrap()
}

pub(crate) async fn usage(store: &dyn QuotaStore, user: &str) -> Vec<QuotaUsage> {
    let owner = Actor::new("acme", user);
    let usage = store.quota_usage(&owner, &QuotaDefaults::default()).await.unwrap();
    for quota in &usage {
        let (used, held) = (quota.used.tokens, quota.held.tokens);
        assert!(
            used + held <= quota.quota.tokens.unwrap(),
            "{used} and {held}: {quota:?}"
        );
    }
    usage
}

/// Draws with many tasks until nothing is left. Returns what they have used.
pub(crate) async fn use_up(store: &dyn QuotaStore, process: &str) -> u64 {
    let tasks = (0..TASKS).map(|task| use_up_alone(store, ["ann", "bo", "cy"][task % 3], format!("{process} {task}")));
    join_all(tasks).await.into_iter().sum()
}

/// Draws for calls of a run, which use as much as they hold or less, until nothing is left.
async fn use_up_alone(store: &dyn QuotaStore, user: &str, run: String) -> u64 {
    let allowance = open(store, &key(user, &run)).await.unwrap();
    let mut random = fastrand::Rng::with_seed(run.len() as u64 + u64::from(run.as_bytes()[run.len() - 1]));
    let mut spent = 0;
    loop {
        let (most, report) = (random.u64(1..40), QuotaReport::new(tokens(spent)));
        let wanted = [tokens(most), tokens(1)];
        match store.draw(&allowance, &report, &wanted).await.unwrap() {
            Ok(0) => spent += random.u64(0..=most),
            Ok(_) => spent += 1,
            // Others may use less than they hold.
            Err(shortage) if shortage.is_temporary() => {}
            Err(_) => break,
        }
        usage(store, user).await;
    }
    store.close_allowance(&allowance, &tokens(spent)).await.unwrap();
    spent
}

/// Checks the rest after this much was used: each token was counted once, and a quota ended each task.
pub(crate) async fn check_used_up(store: &dyn QuotaStore, spent: u64) {
    let mut of_users = 0;
    for user in ["ann", "bo", "cy"] {
        let [tenant, own] = usage(store, user).await.try_into().unwrap();
        assert_eq!(
            (tenant.used.tokens, tenant.held, own.held),
            (spent, tokens(0), tokens(0))
        );
        assert!(spent == LIMIT || own.used.tokens == OF_USER);
        of_users += own.used.tokens;
    }
    assert_eq!(of_users, spent);
    assert!(spent <= LIMIT);
}

/// Checks that allowances that were left by processes count as used, and are deleted after a long time. The arguments make all
/// allowances older by days, and return their number.
pub(crate) async fn allowances_that_were_left_are_deleted(
    store: &dyn QuotaStore,
    pass_days: impl AsyncFn(u64),
    count: impl AsyncFn() -> u64,
) {
    limit(store).await;
    let mut left = Vec::new();
    for (run, held) in [("calling", 30), ("idle", 0), ("back", 20)] {
        let allowance = open(store, &key("ann", run)).await.unwrap();
        let drawn = store.draw(&allowance, &QuotaReport::default(), &[tokens(held)]).await;
        assert_eq!(drawn.unwrap(), Ok(0));
        left.push(allowance);
    }
    pass_days(365).await;
    // What the user has used does not depend on who looks first.
    assert_eq!(usage(store, "bo").await[0].used, tokens(50));
    assert_eq!(usage(store, "ann").await[1].used, tokens(50));
    assert_eq!(count().await, 3);
    // A process that comes back reports what it has used indeed.
    let report = QuotaReport::new(tokens(25));
    assert_eq!(store.draw(&left[2], &report, &[]).await.unwrap(), Ok(0));
    assert_eq!(usage(store, "ann").await[1].used, tokens(55));
    pass_days(2).await;
    assert_eq!(
        store
            .count_run(&Actor::new("acme", "bo"), &QuotaDefaults::default())
            .await
            .unwrap(),
        Ok(())
    );
    assert_eq!(count().await, 1);
    // What is left does not change any more.
    store.close_allowance(&left[0], &tokens(900)).await.unwrap();
    store.close_allowance(&left[2], &tokens(26)).await.unwrap();
    assert_eq!(usage(store, "ann").await[1].used, tokens(56));
    assert_eq!(count().await, 0);
}

/// Checks that the tables do not grow with the runs. The argument returns the numbers of rows of usage and allowances.
pub(crate) async fn runs_leave_no_rows(store: &dyn QuotaStore, count: impl AsyncFn() -> [u64; 2]) {
    limit(store).await;
    for number in 0..20 {
        let key = key("ann", &number.to_string());
        let none = QuotaDefaults::default();
        assert_eq!(store.count_run(&key.owner, &none).await.unwrap(), Ok(()));
        let allowance = open(store, &key).await.unwrap();
        let drawn = store.draw(&allowance, &QuotaReport::default(), &[tokens(9)]).await;
        assert_eq!(drawn.unwrap(), Ok(0));
        store.close_allowance(&allowance, &tokens(5)).await.unwrap();
    }
    assert_eq!(count().await, [8, 0]);
    assert_eq!(usage(store, "ann").await[1].used, tokens(100).with_runs(20));
}

/// Draws this often for a run of a user.
pub(crate) async fn draw_often(store: &dyn QuotaStore, count: usize) {
    let allowance = open(store, &key("user 7", "r")).await.unwrap();
    let mut report = QuotaReport::default();
    for _ in 0..count {
        assert_eq!(store.draw(&allowance, &report, &[tokens(9)]).await.unwrap(), Ok(0));
        report.spent.add(&tokens(9).with_model_calls(1));
    }
    store.close_allowance(&allowance, &report.spent).await.unwrap();
}

/// Changes that the tables refuse, of the quotas and rows that [`fill`] makes.
pub(crate) const REFUSED: [(&str, &str); 12] = [
    ("quotas", "scope = 'world'"),
    ("quotas", "window_name = 'year'"),
    ("quotas", "subject_user = 'ann'"),
    ("quotas", "scope = 'user'"),
    ("quotas", "tokens = -1"),
    ("quotas", "tokens = NULL"),
    ("quotas", "micros = 5"),
    ("quotas", "currency = 'EUR'"),
    ("quota_usage", "window_name = 'year'"),
    ("quota_usage", "tokens = -1"),
    ("quota_allowances", "held_tokens = -1"),
    ("quota_allowances", "spent_runs = -1"),
];

/// Stores a quota of the tenant, some usage and an allowance.
pub(crate) async fn fill(store: &dyn QuotaStore) {
    let quota = Quota::new(QuotaScope::Tenant, QuotaWindow::Day).with_tokens(100);
    store.set_quota("acme", &quota).await.unwrap();
    let allowance = open(store, &key("ann", "r")).await.unwrap();
    let report = QuotaReport::new(tokens(1));
    assert_eq!(store.draw(&allowance, &report, &[tokens(1)]).await.unwrap(), Ok(0));
}
