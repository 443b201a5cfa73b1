//! [`QuotaSource`]: draws from the allowance that the quotas of a user give to a run.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use agcore_chat::Clock;
use agcore_cycle::{
    Spent,
    budget::{BudgetSource, DrawError, Resource},
};
use agcore_session::{
    SessionError, SessionErrorKind,
    quota::{Allowance, QuotaAmount, QuotaReport, QuotaResource, QuotaStore},
};
use async_trait::async_trait;

use crate::lease::HeldLease;

/// The pause before the next attempt: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));

/// The longest time for which a call of a model waits until others have ended.
const PATIENCE: Duration = Duration::from_secs(60);

/// Draws from an allowance.
#[derive(Debug)]
pub(super) struct QuotaSource {
    store: Arc<dyn QuotaStore>,
    allowance: Allowance,
    clock: Arc<dyn Clock>,
    lease: Option<Arc<HeldLease>>,
    /// Whether the store does not know the allowance any more.
    is_lost: AtomicBool,
}

impl QuotaSource {
    /// Wraps what a store has opened for a run that is executed under a lease.
    pub(super) fn new(
        store: Arc<dyn QuotaStore>,
        allowance: Allowance,
        clock: &Arc<dyn Clock>,
        lease: Option<&Arc<HeldLease>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            allowance,
            clock: Arc::clone(clock),
            lease: lease.map(Arc::clone),
            is_lost: AtomicBool::new(false),
        })
    }

    pub(super) fn run(&self) -> &str {
        &self.allowance.key.run
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Returns whether another allowance has to be opened for the run.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Returns the part of an amount that quotas limit.
    pub(super) fn amount(&self, spent: &Spent) -> QuotaAmount {
        let currency = self.allowance.currency.as_deref();
        QuotaAmount::new()
            .with_model_calls(spent.model_calls)
            .with_tokens(spent.tokens)
            .with_micros(currency.map_or(0, |currency| spent.micros(currency)))
    }

    pub(super) async fn close(&self, spent: &QuotaAmount) -> Result<(), SessionError> {
        self.store.close_allowance(&self.allowance, spent).await
    }

    /// Checks that the lease did not end before the answer of the store arrived, so that no call begins after it.
    fn check_lease(&self) -> Result<(), DrawError> {
        let checked = self.lease.as_ref().map_or(Ok(()), |lease| lease.check());
        checked.map_err(|error| self.failed(&error))
    }

    /// Returns the error for the turn. It waits for the database after an outage, and if another process has the run, it ends.
    fn failed(&self, error: &SessionError) -> DrawError {
        let is_lost = error.kind() == SessionErrorKind::Fenced;
        if is_lost {
            self.is_lost.store(true, Ordering::Relaxed);
        }
        let fault = error.fault();
        let is_retryable = is_lost || fault.is_retryable();
        DrawError::Failed(fault.with_retryable(is_retryable))
    }
}

#[async_trait]
impl BudgetSource for QuotaSource {
    fn currency(&self) -> Option<Arc<str>> {
        self.allowance.currency.clone()
    }

    fn limits_replies(&self) -> bool {
        self.allowance.limits_replies
    }

    async fn draw(&self, spent: &Spent, in_flight: &Spent, wanted: &[Spent]) -> Result<usize, DrawError> {
        let report = QuotaReport::new(self.amount(spent)).with_in_flight(self.amount(in_flight));
        let wanted: Vec<_> = wanted.iter().map(|amount| self.amount(amount)).collect();
        let drawn = self.store.draw(&self.allowance, &report, &wanted).await;
        let fitting = drawn.map_err(|error| self.failed(&error))?;
        self.check_lease()?;
        fitting.map_err(|shortage| DrawError::Short {
            resource: match shortage.resource {
                QuotaResource::Tokens => Resource::Tokens,
                QuotaResource::Money => Resource::Money,
                _ => Resource::ModelCalls,
            },
            message: shortage.to_string(),
            is_temporary: shortage.is_temporary(),
        })
    }

    async fn retry(&self, error: &DrawError, draws: u32) -> bool {
        let waited = || (1..draws).map(pause_after).sum::<Duration>();
        let is_repeated = match error {
            DrawError::Short { is_temporary, .. } => *is_temporary && waited() < PATIENCE,
            // Until the run is cancelled or left to another process: an agent that works for another must not fail meanwhile.
            DrawError::Failed(fault) => fault.is_retryable() && !self.is_lost(),
            _ => false,
        };
        if !is_repeated {
            return false;
        }
        tracing::info!(run = self.run(), %error, "a call of a model waits");
        self.clock.sleep(pause_after(draws)).await;
        true
    }
}

/// Returns the pause after this many attempts.
pub(super) fn pause_after(attempts: u32) -> Duration {
    let longer = 2_u32.saturating_pow(attempts.saturating_sub(1));
    PAUSES.0.saturating_mul(longer).min(PAUSES.1)
}
