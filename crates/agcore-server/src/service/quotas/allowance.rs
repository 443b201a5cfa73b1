//! [`RunAllowance`]: the amount that a run may use while this process works on it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use agcore_agent::AgentError;
use agcore_chat::Clock;
use agcore_cycle::{
    SharedBudget, Spent,
    budget::{BudgetSource, LimitedSource},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::source::{QuotaSource, pause_after};
use crate::run::RunBudget;

/// The number of times that the end of an allowance is reported if the store fails.
const REPORTS: u32 = 5;

/// The name of the budget of a run, for errors.
const NAME: &str = "the budget of the run";

/// The amount that a run may use while this process works on it: its own budget, and its part of the quotas of its user. Without
/// either, the run is not limited.
#[derive(Default)]
pub(crate) struct RunAllowance {
    quota: Option<Arc<QuotaSource>>,
    own: Option<OwnLimits>,
    budget: Option<SharedBudget>,
}

/// The limits of a run itself.
struct OwnLimits {
    source: Arc<LimitedSource>,
    /// Whether they count what the run had spent before this process worked on it.
    is_complete: AtomicBool,
}

impl OwnLimits {
    /// Creates the limits of a run, in front of its quotas. They count what it has spent with an earlier allowance of this process.
    fn new(
        budget: &RunBudget,
        clock: &Arc<dyn Clock>,
        quota: Option<&Arc<QuotaSource>>,
        earlier: Option<&RunAllowance>,
    ) -> Self {
        let mut source = LimitedSource::new(NAME, budget.limits(), Arc::clone(clock));
        if let Some(quota) = quota {
            source = source.with_inner(Arc::clone(quota) as _);
        }
        let known = earlier.and_then(|earlier| earlier.own.as_ref().zip(earlier.budget.as_ref()));
        if let Some((own, budget)) = known {
            source.count(&own.source.before());
            source.count(&budget.spent());
        }
        let is_complete = known.is_some_and(|(own, _)| own.is_complete.load(Ordering::Relaxed));
        Self {
            source: Arc::new(source),
            is_complete: AtomicBool::new(is_complete),
        }
    }
}

impl RunAllowance {
    /// Creates the allowance of a run with these quotas and this budget, after an earlier one of this process.
    pub(super) fn new(
        quota: Option<Arc<QuotaSource>>,
        budget: Option<&RunBudget>,
        clock: &Arc<dyn Clock>,
        earlier: Option<&Self>,
    ) -> Self {
        let own = budget.map(|budget| OwnLimits::new(budget, clock, quota.as_ref(), earlier));
        let source: Option<Arc<dyn BudgetSource>> = match (&own, &quota) {
            (Some(own), _) => Some(Arc::clone(&own.source) as _),
            (None, Some(quota)) => Some(Arc::clone(quota) as _),
            (None, None) => None,
        };
        Self {
            budget: source.map(SharedBudget::new),
            quota,
            own,
        }
    }

    /// Returns the budget of the agents of the run, if it is limited.
    pub(super) fn budget(&self) -> Option<SharedBudget> {
        self.budget.clone()
    }

    /// Returns whether another one has to be opened for the run.
    pub(super) fn is_lost(&self) -> bool {
        self.quota.as_ref().is_some_and(|quota| quota.is_lost())
    }

    /// Counts what the run had spent before this process worked on it, once. Nothing is read if the run has no budget of its own.
    ///
    /// # Errors
    /// That of `spent`.
    pub(in crate::service) async fn count_before(
        &self,
        spent: impl Future<Output = Result<Spent, AgentError>>,
    ) -> Result<(), AgentError> {
        if let Some(own) = self.own.as_ref().filter(|own| !own.is_complete.load(Ordering::Relaxed)) {
            own.source.count(&spent.await?);
            own.is_complete.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Reports everything that was used. If the store fails, this is tried again a few times in a task, until `parking` is
    /// cancelled. If no report arrives, the amount that was held last counts as used.
    pub(super) async fn close(self, tasks: &TaskTracker, parking: &CancellationToken) {
        let (Some(source), Some(budget)) = (self.quota, self.budget) else {
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
                    () = source.clock().sleep(pause_after(attempt)) => {}
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

#[cfg(test)]
mod tests {
    use agcore_chat::SystemClock;
    use serde_json::json;

    use super::*;

    fn allowance(budget: Option<&RunBudget>, earlier: Option<&RunAllowance>) -> RunAllowance {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        RunAllowance::new(None, budget, &clock, earlier)
    }

    async fn spent() -> Result<Spent, AgentError> {
        Ok(Spent::new().with_model_calls(2))
    }

    fn before(allowance: &RunAllowance) -> u64 {
        allowance.own.as_ref().unwrap().source.before().model_calls
    }

    #[tokio::test]
    async fn an_earlier_process_is_counted_once() {
        let budget = RunBudget::read(&json!({"modelCalls": 5})).unwrap();
        let first = allowance(Some(&budget), None);
        first.count_before(spent()).await.unwrap();
        // Another attempt of the same process, and one whose allowance was lost.
        first.count_before(spent()).await.unwrap();
        let second = allowance(Some(&budget), Some(&first));
        let later = async { Ok(Spent::new().with_model_calls(7)) };
        second.count_before(later).await.unwrap();
        assert_eq!((before(&first), before(&second)), (2, 2));
        // It was not known yet.
        let third = allowance(Some(&budget), Some(&allowance(Some(&budget), None)));
        third.count_before(spent()).await.unwrap();
        assert_eq!(before(&third), 2);
    }

    #[tokio::test]
    async fn a_run_without_a_budget_reads_nothing() {
        let allowance = allowance(None, None);
        let never = async { panic!("it is read") };
        allowance.count_before(never).await.unwrap();
        assert!(allowance.budget().is_none() && !allowance.is_lost());
    }
}
