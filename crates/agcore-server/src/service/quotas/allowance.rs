//! [`RunAllowance`]: the part of quotas that a run may use while this process works on it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use agcore_chat::Clock;
use agcore_cycle::{
    SharedBudget, Spent,
    budget::{BudgetSource, DrawError, Resource},
};
use agcore_session::{
    SessionError, SessionErrorKind,
    quota::{Allowance, QuotaAmount, QuotaReport, QuotaResource, QuotaStore},
};
use async_trait::async_trait;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::lease::HeldLease;

/// The pause before the next attempt: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));

/// The longest time for which a call of a model waits until others have ended.
const PATIENCE: Duration = Duration::from_secs(60);

/// The number of times that the end of an allowance is reported if the store fails.
const REPORTS: u32 = 5;

/// The part of quotas that a run may use while this process works on it. Without quotas that apply, the run is not limited.
pub(crate) struct RunAllowance(Option<Limited>);

struct Limited {
    source: Arc<Source>,
    budget: SharedBudget,
}

/// Draws from an allowance.
#[derive(Debug)]
struct Source {
    store: Arc<dyn QuotaStore>,
    allowance: Allowance,
    clock: Arc<dyn Clock>,
    lease: Option<Arc<HeldLease>>,
    /// Whether the store does not know the allowance any more.
    is_lost: AtomicBool,
}

impl RunAllowance {
    /// Wraps what a store has opened for a run that is executed under a lease.
    pub(super) fn new(
        store: Arc<dyn QuotaStore>,
        opened: Option<Allowance>,
        clock: Arc<dyn Clock>,
        lease: Option<&Arc<HeldLease>>,
    ) -> Self {
        let lease = lease.map(Arc::clone);
        Self(opened.map(|allowance| {
            let source = Arc::new(Source {
                store,
                allowance,
                clock,
                lease,
                is_lost: AtomicBool::new(false),
            });
            let budget = SharedBudget::new(Arc::clone(&source) as Arc<dyn BudgetSource>);
            Limited { source, budget }
        }))
    }

    /// Returns the budget of the run, if quotas apply to it.
    pub(super) fn budget(&self) -> Option<SharedBudget> {
        self.0.as_ref().map(|limited| limited.budget.clone())
    }

    /// Returns whether another one has to be opened for the run.
    pub(super) fn is_lost(&self) -> bool {
        let limited = self.0.as_ref();
        limited.is_some_and(|limited| limited.source.is_lost.load(Ordering::Relaxed))
    }

    /// Reports everything that was used. If the store fails, this is tried again a few times in a task, until `parking` is
    /// cancelled. If no report arrives, the amount that was held last counts as used.
    pub(super) async fn close(self, tasks: &TaskTracker, parking: &CancellationToken) {
        let Some(Limited { source, budget }) = self.0 else {
            return;
        };
        let spent = source.amount(&budget.spent());
        let Err(error) = source.close(&spent).await else {
            return;
        };
        tracing::info!(?error, run = source.run(), "what a run has used is reported later");
        let parking = parking.clone();
        tasks.spawn(async move {
            for attempt in 1..REPORTS {
                tokio::select! {
                    () = parking.cancelled() => {}
                    () = source.clock.sleep(pause_after(attempt)) => {}
                }
                match source.close(&spent).await {
                    Ok(()) => return,
                    Err(error) if attempt + 1 == REPORTS || parking.is_cancelled() => {
                        tracing::warn!(?error, run = source.run(), "what a run has used was not reported");
                        return;
                    }
                    Err(_) => {}
                }
            }
        });
    }
}

impl Source {
    fn run(&self) -> &str {
        &self.allowance.key.run
    }

    /// Returns the part of an amount that quotas limit.
    fn amount(&self, spent: &Spent) -> QuotaAmount {
        let currency = self.allowance.currency.as_deref();
        QuotaAmount::new()
            .with_model_calls(spent.model_calls)
            .with_tokens(spent.tokens)
            .with_micros(currency.map_or(0, |currency| spent.micros(currency)))
    }

    async fn close(&self, spent: &QuotaAmount) -> Result<(), SessionError> {
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
impl BudgetSource for Source {
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
            DrawError::Failed(fault) => fault.is_retryable() && !self.is_lost.load(Ordering::Relaxed),
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
fn pause_after(attempts: u32) -> Duration {
    let longer = 2_u32.saturating_pow(attempts.saturating_sub(1));
    PAUSES.0.saturating_mul(longer).min(PAUSES.1)
}
