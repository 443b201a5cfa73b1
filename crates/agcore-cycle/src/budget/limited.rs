//! [`LimitedSource`]: limits for a piece of work, in front of a budget that is kept elsewhere.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use agcore_chat::{Clock, Fault, FaultKind};
use async_trait::async_trait;

use super::{
    limit::{Budget, Resource},
    shared::{BudgetSource, DrawError},
    shortage::amount_of,
    spent::Spent,
};

/// The pause before the next attempt: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));

/// The longest time for which a call waits until others have ended.
const PATIENCE: Duration = Duration::from_secs(60);

/// Limits for a piece of work, such as a run with all its sub-agents, and perhaps another [`BudgetSource`] behind them.
///
/// A call must fit both: the other source is only asked for amounts that fit the limits. Give it to one
/// [`SharedBudget`](crate::SharedBudget), whose clones count together. If the work has started earlier, perhaps in another process,
/// [`count`](Self::count) what was spent then.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::ChatResponse;
/// use agcore_cycle::{Budget, CycleErrorKind, LlmCycle, SharedBudget, TurnOptions, budget::LimitedSource};
/// use agcore_llm::{SystemClock, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let limits = Budget::new().with_model_calls(1);
/// let source = LimitedSource::new("the budget of the job", limits, Arc::new(SystemClock::new()));
/// let budget = SharedBudget::new(Arc::new(source));
///
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Hello.")) });
/// let mut cycle = LlmCycle::new(provider, SystemClock::new());
/// let options = || TurnOptions::new().with_shared_budget(budget.clone());
/// cycle.turn("Hello").with_options(options()).await?;
/// let error = cycle.turn("Again").with_options(options()).await.unwrap_err();
/// assert_eq!(error.kind(), CycleErrorKind::LimitReached);
/// assert_eq!(
///     error.message(),
///     "the budget of the job allows 1 model calls; 1 model calls are used, and the next step needs 1 model calls; raise it"
/// );
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct LimitedSource {
    /// The name of the limits, for errors.
    name: String,
    limits: Budget,
    clock: Arc<dyn Clock>,
    /// The amount that was spent before.
    before: Mutex<Spent>,
    inner: Option<Arc<dyn BudgetSource>>,
}

impl LimitedSource {
    /// Creates limits, from which nothing is spent. Time and tool calls are not limited: no
    /// [`SharedBudget`](crate::SharedBudget) draws them. The name appears in errors.
    pub fn new(name: impl Into<String>, limits: Budget, clock: Arc<dyn Clock>) -> Self {
        Self {
            name: name.into(),
            limits: Budget {
                time: None,
                tool_calls: None,
                ..limits
            },
            clock,
            before: Mutex::default(),
            inner: None,
        }
    }

    /// Draws from another source as well. If both limit money, both need the same currency: draws fail otherwise.
    #[must_use]
    pub fn with_inner(mut self, inner: Arc<dyn BudgetSource>) -> Self {
        self.inner = Some(inner);
        self
    }

    /// Counts an amount that was spent before, and that the other source knows already.
    pub fn count(&self, spent: &Spent) {
        self.before.lock().unwrap_or_else(PoisonError::into_inner).add(spent);
    }

    /// Returns the amount that was spent before.
    pub fn before(&self) -> Spent {
        self.before.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the indexes of the amounts that fit the limits.
    ///
    /// # Errors
    /// The shortage of the last amount if none fits.
    fn fitting(&self, spent: &Spent, in_flight: &Spent, wanted: &[Spent]) -> Result<Vec<usize>, DrawError> {
        let mut used = self.before();
        used.add(spent);
        let mut taken = used.clone();
        taken.add(in_flight);
        let (mut fitting, mut shortage) = (Vec::new(), None);
        for (index, more) in wanted.iter().enumerate() {
            match self.limits.admits(&taken, more) {
                Ok(()) => fitting.push(index),
                Err(resource) => shortage = Some((resource, more)),
            }
        }
        match shortage {
            Some((resource, more)) if fitting.is_empty() => Err(DrawError::Short {
                resource,
                message: self.message(resource, &used, in_flight, more),
                is_temporary: self.limits.admits(&used, more).is_ok(),
            }),
            _ => Ok(fitting),
        }
    }

    fn message(&self, resource: Resource, used: &Spent, in_flight: &Spent, more: &Spent) -> String {
        let text = |amount| {
            amount_of(
                resource,
                amount,
                self.limits.money.as_ref().map(|money| &money.currency),
            )
        };
        let of = |spent| self.limits.amount(resource, spent);
        let limit = self.limits.left(resource, &Spent::new());
        let mut message = format!("{} allows {}; {} are used", self.name, text(limit), text(of(used)));
        if of(in_flight) > 0 {
            message += &format!(", calls in flight may use {}", text(of(in_flight)));
        }
        let needs = match resource {
            Resource::Tokens | Resource::Money => "the next call may need",
            _ => "the next step needs",
        };
        message + &format!(", and {needs} {}; raise it", text(of(more)))
    }

    /// Checks that amounts mean the same for both sources.
    fn check_currency(&self) -> Result<(), DrawError> {
        let own = self.limits.money.as_ref().map(|money| &money.currency);
        let inner = self.inner.as_ref().and_then(|inner| inner.currency());
        match (own, inner) {
            (Some(own), Some(inner)) if **own != *inner => {
                let problem = format!(
                    "{} is in {own}, but another budget that holds for it is in {inner}; use the same currency for both",
                    self.name
                );
                Err(DrawError::Failed(Fault::new(FaultKind::InvalidRequest, problem)))
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl BudgetSource for LimitedSource {
    fn currency(&self) -> Option<Arc<str>> {
        let own = self.limits.money.as_ref().map(|money| Arc::clone(&money.currency));
        own.or_else(|| self.inner.as_ref()?.currency())
    }

    fn limits_replies(&self) -> bool {
        self.limits.limits_replies() || self.inner.as_ref().is_some_and(|inner| inner.limits_replies())
    }

    async fn draw(&self, spent: &Spent, in_flight: &Spent, wanted: &[Spent]) -> Result<usize, DrawError> {
        self.check_currency()?;
        let fitting = match self.fitting(spent, in_flight, wanted) {
            Ok(fitting) => fitting,
            Err(shortage) => {
                // What an earlier draw has left there must not stay reserved.
                if let Some(inner) = &self.inner
                    && let Err(error) = inner.draw(spent, in_flight, &[]).await
                {
                    tracing::debug!(%error, "the cost of calls is reported later");
                }
                return Err(shortage);
            }
        };
        let drawn = match &self.inner {
            None => 0,
            Some(inner) => {
                let wanted: Vec<Spent> = fitting.iter().filter_map(|index| wanted.get(*index)).cloned().collect();
                inner.draw(spent, in_flight, &wanted).await?
            }
        };
        Ok(fitting.get(drawn).copied().unwrap_or_default())
    }

    async fn retry(&self, error: &DrawError, draws: u32) -> bool {
        if let Some(inner) = &self.inner {
            return inner.retry(error, draws).await;
        }
        let waited = || (1..draws).map(pause_after).sum::<Duration>();
        let is_repeated = matches!(error, DrawError::Short { is_temporary: true, .. }) && waited() < PATIENCE;
        if is_repeated {
            self.clock.sleep(pause_after(draws)).await;
        }
        is_repeated
    }
}

/// Returns the pause after this many attempts.
fn pause_after(attempts: u32) -> Duration {
    let longer = 2_u32.saturating_pow(attempts.saturating_sub(1));
    PAUSES.0.saturating_mul(longer).min(PAUSES.1)
}
