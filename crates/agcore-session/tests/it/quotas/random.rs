//! Random use of quotas by several processes, with a clock that jumps, compared with a simple model.

mod model;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use agcore_session::{
    Actor, Clock, Money, SessionErrorKind,
    quota::{
        Allowance, AllowanceKey, InMemoryQuotas, Quota, QuotaDefaults, QuotaReport, QuotaScope, QuotaStore, QuotaWindow,
    },
};
use async_trait::async_trait;
use proptest::{collection::vec, prelude::*, sample::select};

use self::model::{Model, amount};

const START: u64 = 1_768_478_400; // 2026-01-15T12:00:00Z
const RUNS: usize = 5;
const USERS: [&str; 3] = ["ann", "bo", "cy"];

/// A clock that is set to any time.
#[derive(Debug)]
struct Jumping(AtomicU64);

#[async_trait]
impl Clock for Jumping {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.monotonic()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }

    async fn sleep(&self, _duration: Duration) {}
}

/// A step of a test. Most are those of the process that works on a run.
#[derive(Debug, Clone)]
enum Step {
    /// Opens the allowance of a run. The process before it, if there is one, has lost the run and does not know.
    Open(usize),
    /// Reports calls that have ended, and wants to make another one.
    Draw(usize, Ended, Vec<u64>),
    Close(usize, Ended),
    /// A process that has lost its run draws.
    DrawLate(usize),
    /// A process that has lost its run closes its allowance.
    CloseLate(usize),
    /// Counts a run, and takes it back unless it starts.
    CountRun(usize, bool),
    Erase(usize),
    Jump(i64),
}

/// The quarters of the amount in flight that have ended, and the quarters of those that were used.
type Ended = (u64, u64);

fn owner(run: usize) -> Actor {
    Actor::new("acme", USERS[run % USERS.len()])
}

struct World {
    store: InMemoryQuotas,
    clock: Arc<Jumping>,
    defaults: QuotaDefaults,
    model: Model,
    /// The allowances of the runs, by their numbers.
    current: [Option<Allowance>; RUNS],
    /// Those that were opened again, closed or erased.
    lost: Vec<Allowance>,
    /// Whether the clock may go backwards. Then amounts that a window had when it ended count again, and limits can be exceeded.
    goes_back: bool,
}

impl World {
    async fn new(quotas: &[Quota], goes_back: bool) -> Self {
        let clock = Arc::new(Jumping(AtomicU64::new(START)));
        let store = InMemoryQuotas::new(Arc::clone(&clock) as _);
        for quota in quotas {
            store.set_quota("acme", quota).await.unwrap();
        }
        let daily = Quota::new(QuotaScope::EachUser, QuotaWindow::Day).with_tokens(150);
        Self {
            store,
            clock,
            defaults: QuotaDefaults::new([daily]).unwrap(),
            model: Model::default(),
            current: [const { None }; RUNS],
            lost: Vec::new(),
            goes_back,
        }
    }

    /// Compares what the store reports with the model, and with the limits.
    async fn check(&mut self) {
        let now = self.clock.now().into();
        self.model.expire(now);
        for user in USERS {
            let owner = Actor::new("acme", user);
            let usage = self.store.quota_usage(&owner, &self.defaults).await.unwrap();
            for usage in usage {
                let (used, held) = self.model.taken(&usage.quota, user, now);
                assert_eq!((usage.used, usage.held), (used, held), "{user}: {:?}", usage.quota);
                let fits = self.goes_back || self.model.fits(&usage.quota, user, 0, now);
                assert!(fits, "{user}: {usage:?}");
            }
        }
    }

    /// Forgets the process of a run.
    fn lose(&mut self, run: usize) {
        self.lost.extend(self.current[run].take());
    }

    async fn step(&mut self, step: Step) {
        let now = self.clock.now().into();
        match step {
            Step::Open(run) => {
                self.lose(run);
                let key = AllowanceKey::new(owner(run), "session", run.to_string());
                let opened = self.store.open_allowance(&key, &self.defaults).await;
                self.current[run] = opened.unwrap();
                self.model.open(run, owner(run).user.as_ref(), now);
            }
            Step::Draw(run, ended, wanted) => self.draw(run, ended, &wanted).await,
            Step::Close(run, ended) => {
                if let Some(allowance) = self.current[run].clone() {
                    let spent = self.model.report(run, ended, now).spent;
                    self.store.close_allowance(&allowance, &spent).await.unwrap();
                    self.model.close(run);
                    self.lose(run);
                }
            }
            Step::DrawLate(index) => {
                if let Some(allowance) = self.lost.get(index % self.lost.len().max(1)) {
                    let report = QuotaReport::new(amount(1000)).with_in_flight(amount(1000));
                    let draw = self.store.draw(allowance, &report, &[amount(1)]).await;
                    assert_eq!(draw.unwrap_err().kind(), SessionErrorKind::Fenced);
                }
            }
            Step::CloseLate(index) => {
                if let Some(allowance) = self.lost.get(index % self.lost.len().max(1)) {
                    self.store.close_allowance(allowance, &amount(1000)).await.unwrap();
                }
            }
            Step::CountRun(run, starts) => {
                let owner = owner(run);
                let counted = self.store.count_run(&owner, &self.defaults).await.unwrap();
                if counted.is_ok() {
                    self.model.count_run(&owner.user, now);
                    if !starts {
                        self.store.uncount_run(&owner).await.unwrap();
                        self.model.uncount_run(&owner.user);
                    }
                }
            }
            Step::Erase(run) => {
                // The quota of the user is deleted as well, and others might be exceeded then, so it is set again.
                let own = self.store.quotas("acme").await.unwrap();
                self.store.erase_quotas(&owner(run)).await.unwrap();
                for quota in own {
                    self.store.set_quota("acme", &quota).await.unwrap();
                }
                self.model.erase(&owner(run).user, now);
                let of_user = (0..RUNS).filter(|other| other % USERS.len() == run % USERS.len());
                of_user.for_each(|run| self.lose(run));
            }
            Step::Jump(seconds) => {
                let seconds = if self.goes_back { seconds } else { seconds.abs() };
                let jump = |now: u64| now.checked_add_signed(seconds);
                self.clock
                    .0
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, jump)
                    .unwrap();
            }
        }
    }

    async fn draw(&mut self, run: usize, ended: Ended, wanted: &[u64]) {
        let Some(allowance) = self.current[run].clone() else {
            return;
        };
        let now = self.clock.now().into();
        let report = self.model.report(run, ended, now);
        let amounts: Vec<_> = wanted.iter().copied().map(amount).collect();
        let drawn = self.store.draw(&allowance, &report, &amounts).await.unwrap();
        let quotas = self.store.quotas("acme").await.unwrap();
        let user = allowance.key.user();
        let quotas = self.defaults.with_own(&quotas, user).unwrap();
        let fits = |more: &u64| quotas.iter().all(|quota| self.model.fits(quota, user, *more, now));
        let expected = if wanted.is_empty() {
            Some(0)
        } else {
            wanted.iter().position(fits)
        };
        assert_eq!(drawn.ok(), expected);
        if let Some(more) = expected.and_then(|index| wanted.get(index)) {
            self.model.hold(run, *more);
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ended = || (0..=4_u64, 0..=4_u64);
    let run = || 0..RUNS;
    let seconds = select(vec![
        1, 59, 61, 1_800, 3_599, 3_601, 86_400, 2_700_000, -1, -61, -3_601, -90_000,
    ]);
    let step = prop_oneof![
        3 => run().prop_map(Step::Open),
        12 => (run(), ended(), vec(0..80_u64, 0..3)).prop_map(|(run, ended, wanted)| Step::Draw(run, ended, wanted)),
        2 => (run(), ended()).prop_map(|(run, ended)| Step::Close(run, ended)),
        1 => (0..100_usize).prop_map(Step::DrawLate),
        1 => (0..100_usize).prop_map(Step::CloseLate),
        2 => (run(), any::<bool>()).prop_map(|(run, starts)| Step::CountRun(run, starts)),
        1 => run().prop_map(Step::Erase),
        4 => seconds.prop_map(Step::Jump),
    ];
    vec(step, 0..60)
}

fn quotas() -> impl Strategy<Value = Vec<Quota>> {
    let scopes = vec![
        QuotaScope::Tenant,
        QuotaScope::EachUser,
        QuotaScope::User("ann".to_owned()),
    ];
    let quota = (select(scopes), select(QuotaWindow::ALL.to_vec()), 0..4, 20..300_u64);
    vec(
        quota.prop_map(|(scope, window, resource, limit)| {
            let quota = Quota::new(scope, window);
            match resource {
                0 => quota.with_model_calls(limit).with_runs(3),
                1 => quota.with_money(Money::from_micros(limit.cast_signed(), "EUR")),
                _ => quota.with_tokens(limit),
            }
        }),
        0..6,
    )
}

fn config() -> ProptestConfig {
    let cases = if std::env::var_os("AGCORE_SOAK").is_some() {
        20_000
    } else {
        300
    };
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn used_and_held_amounts_never_exceed_a_quota(
        quotas in quotas(),
        goes_back in any::<bool>(),
        steps in steps(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut world = World::new(&quotas, goes_back).await;
            for step in steps {
                world.step(step).await;
                world.check().await;
            }
        });
    }
}
