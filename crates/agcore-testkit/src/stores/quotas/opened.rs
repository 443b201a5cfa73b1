//! [`Opened`]: the stores that are checked.

use std::{sync::Arc, time::Duration};

use agcore_session::{
    Actor, SessionError, SessionErrorKind,
    quota::{
        Allowance, AllowanceKey, Quota, QuotaAmount, QuotaDefaults, QuotaReport, QuotaScope, QuotaShortage, QuotaStore,
        QuotaUsage, QuotaWindow,
    },
};

use crate::stores::QuotaStoreSubject;

/// Two handles of a store, and the subject that moves its time.
pub(super) struct Opened<'s> {
    pub(super) store: Arc<dyn QuotaStore>,
    pub(super) other: Arc<dyn QuotaStore>,
    subject: &'s dyn QuotaStoreSubject,
}

pub(super) async fn open(subject: &dyn QuotaStoreSubject) -> Opened<'_> {
    let [store, other] = subject.quota_stores().await;
    Opened { store, other, subject }
}

pub(super) fn ann() -> Actor {
    Actor::new("acme", "ann")
}

pub(super) fn bo() -> Actor {
    Actor::new("acme", "bo")
}

/// Returns the key of a run, in a session of its name.
pub(super) fn key(owner: &Actor, run: &str) -> AllowanceKey {
    AllowanceKey::new(owner.clone(), run, run)
}

/// Returns a quota of a month, the window that ends the most rarely while a check runs.
pub(super) fn monthly(scope: QuotaScope) -> Quota {
    Quota::new(scope, QuotaWindow::Month)
}

/// Returns a quota of tokens that all users of a tenant have in a month.
pub(super) fn tenant(limit: u64) -> Quota {
    monthly(QuotaScope::Tenant).with_tokens(limit)
}

/// Returns a quota of tokens that each user has in a month.
pub(super) fn each_user(limit: u64) -> Quota {
    monthly(QuotaScope::EachUser).with_tokens(limit)
}

pub(super) fn tokens(tokens: u64) -> QuotaAmount {
    QuotaAmount::new().with_tokens(tokens)
}

/// Returns a report of tokens that were used, and of those that calls in flight may use.
pub(super) fn report(spent: u64, in_flight: u64) -> QuotaReport {
    QuotaReport::new(tokens(spent)).with_in_flight(tokens(in_flight))
}

/// Returns why a call was refused.
pub(super) fn refused<T>(result: Result<T, SessionError>) -> SessionErrorKind {
    match result {
        Ok(_) => panic!("the call was not refused"),
        Err(error) => {
            assert!(!error.message().is_empty());
            error.kind()
        }
    }
}

impl Opened<'_> {
    /// Lets time pass.
    pub(super) async fn pass(&self, duration: Duration) {
        self.subject.pass(duration).await;
    }

    /// Sets a quota of the tenant `acme`.
    pub(super) async fn set(&self, quota: Quota) {
        self.store.set_quota("acme", &quota).await.unwrap();
    }

    pub(super) async fn usage(&self, owner: &Actor) -> Vec<QuotaUsage> {
        let none = QuotaDefaults::default();
        self.other.quota_usage(owner, &none).await.unwrap()
    }

    /// Returns the tokens that are used and held of the first quota that applies to a user.
    pub(super) async fn taken(&self, owner: &Actor) -> (u64, u64) {
        let usage = self.usage(owner).await;
        (usage[0].used.tokens, usage[0].held.tokens)
    }

    pub(super) async fn count_run(&self, owner: &Actor) -> Result<(), QuotaShortage> {
        self.store.count_run(owner, &QuotaDefaults::default()).await.unwrap()
    }

    /// Opens the allowance of a run, in a session of its name. There must be quotas.
    pub(super) async fn begin(&self, owner: &Actor, run: &str) -> Allowance {
        let opened = self
            .store
            .open_allowance(&key(owner, run), &QuotaDefaults::default())
            .await;
        opened.unwrap().unwrap()
    }

    /// Draws tokens.
    pub(super) async fn draw(
        &self,
        allowance: &Allowance,
        report: QuotaReport,
        wanted: &[u64],
    ) -> Result<usize, QuotaShortage> {
        let wanted: Vec<QuotaAmount> = wanted.iter().copied().map(tokens).collect();
        self.other.draw(allowance, &report, &wanted).await.unwrap()
    }

    /// Checks that an allowance is not that of its holder any more.
    pub(super) async fn draw_fenced(&self, allowance: &Allowance) {
        let draw = self.store.draw(allowance, &report(1000, 1000), &[tokens(1)]).await;
        assert_eq!(refused(draw), SessionErrorKind::Fenced);
    }

    pub(super) async fn close(&self, allowance: &Allowance, spent: u64) {
        self.store.close_allowance(allowance, &tokens(spent)).await.unwrap();
    }

    /// Uses tokens in a run of its own.
    pub(super) async fn spend(&self, owner: &Actor, run: &str, amount: u64) {
        let allowance = self.begin(owner, run).await;
        self.close(&allowance, amount).await;
    }
}
