//! [`SharedBudget`]: a budget that is kept elsewhere, such as in a database that many processes share.

use std::{fmt, sync::Arc};

use agcore_chat::Fault;
use async_trait::async_trait;
use tokio::sync::Mutex;

use super::{
    limit::{Budget, BudgetLimit, Resource, Scope},
    pool::{BudgetPool, Reservation},
    spent::Spent,
};

/// A budget that is kept elsewhere, such as in a database that many processes share.
///
/// See [`SharedBudget`].
#[async_trait]
pub trait BudgetSource: fmt::Debug + Send + Sync {
    /// Returns the currency in which calls must be priced, if money is limited.
    fn currency(&self) -> Option<Arc<str>>;

    /// Returns whether tokens or money are limited, so that the length of replies matters.
    fn limits_replies(&self) -> bool;

    /// Reserves the first of the wanted amounts that fits, besides what calls in flight may spend, and returns its index. `spent`
    /// is everything that was spent since the budget was created. The most useful amount comes first. If none is wanted, this is a
    /// report, and the index does not matter.
    ///
    /// What was reserved before is replaced: the source holds `in_flight` and the wanted amount from then on, or `in_flight` alone
    /// if nothing fits. So a draw can be repeated, and a draw whose future was dropped is corrected by the next one.
    ///
    /// # Errors
    /// [`DrawError::Short`] if none of the amounts fits, and [`DrawError::Failed`] if the source cannot be used.
    async fn draw(&self, spent: &Spent, in_flight: &Spent, wanted: &[Spent]) -> Result<usize, DrawError>;

    /// Waits until another draw may succeed, after as many as `draws` have failed, this one last. Returns whether to draw
    /// again; that draw knows what calls of this process have spent meanwhile. By default, a draw is not repeated.
    async fn retry(&self, error: &DrawError, draws: u32) -> bool {
        let _ = (error, draws);
        false
    }
}

/// The reason a [`BudgetSource`] reserves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DrawError {
    /// Too little of a resource is left. The turn ends with this message.
    #[error("{message}")]
    Short {
        /// The resource.
        resource: Resource,
        /// The reason, for the user.
        message: String,
        /// Whether enough may be left when calls of others have ended.
        is_temporary: bool,
    },
    /// The source cannot be used. The turn stays open, and can be resumed.
    #[error("{0}")]
    Failed(Fault),
}

/// A budget that is kept elsewhere, for turns of this process. All clones refer to the same budget.
///
/// Before each call of a model, the highest cost of the call is drawn from a [`BudgetSource`]. What the calls have really cost is
/// counted here, and reported with the next draw; the owner of the budget reports the [rest](Self::spent) at the end. If the
/// highest cost is too much, a shorter reply is tried, unless the request has a token limit of its own. Tool calls and time are
/// not drawn.
///
/// Turns get it by [`TurnOptions::with_shared_budget`](crate::TurnOptions::with_shared_budget), besides their own budgets.
#[derive(Clone)]
pub struct SharedBudget(Arc<Inner>);

struct Inner {
    source: Arc<dyn BudgetSource>,
    /// Counts what was spent and is in flight. It limits nothing.
    pool: BudgetPool,
    /// Held by the turn that draws, so that no draw replaces the reservation of another.
    drawing: Mutex<()>,
}

impl SharedBudget {
    /// Creates a budget from which nothing was spent.
    pub fn new(source: Arc<dyn BudgetSource>) -> Self {
        Self(Arc::new(Inner {
            source,
            pool: BudgetPool::new(Budget::new()),
            drawing: Mutex::new(()),
        }))
    }

    /// Returns everything that was spent.
    pub fn spent(&self) -> Spent {
        self.0.pool.spent()
    }

    pub(crate) fn currency(&self) -> Option<Arc<str>> {
        self.0.source.currency()
    }

    pub(crate) fn limits_replies(&self) -> bool {
        self.0.source.limits_replies()
    }

    /// Reserves the first of these amounts that fits. Returns its index as well.
    pub(crate) async fn reserve(&self, wanted: &[Spent]) -> Result<(usize, Reservation), DrawError> {
        self.draw(wanted, |index| {
            let amount = wanted.get(index).cloned().unwrap_or_default();
            (index, self.0.pool.set_aside(amount))
        })
        .await
    }

    /// Reserves more for the same call.
    pub(crate) async fn grow(&self, reservation: &mut Reservation, more: &Spent) -> Result<(), DrawError> {
        self.draw(std::slice::from_ref(more), |_| reservation.set_aside(more))
            .await
    }

    /// Reports what calls that have ended have really cost. If that fails, the next draw reports it.
    pub(crate) async fn report(&self) {
        let _drawing = self.0.drawing.lock().await;
        let (spent, in_flight) = self.0.pool.spent_and_reserved();
        if let Err(error) = self.0.source.draw(&spent, &in_flight, &[]).await {
            tracing::debug!(%error, "the cost of a call is reported later");
        }
    }

    /// Draws until the source gives up, and counts what it has reserved before another turn can draw. Others can draw during the
    /// pauses.
    async fn draw<T>(&self, wanted: &[Spent], reserved: impl FnOnce(usize) -> T) -> Result<T, DrawError> {
        let mut draws = 0_u32;
        loop {
            let drawing = self.0.drawing.lock().await;
            let (spent, in_flight) = self.0.pool.spent_and_reserved();
            match self.0.source.draw(&spent, &in_flight, wanted).await {
                Ok(index) => return Ok(reserved(index)),
                Err(error) => {
                    drop(drawing);
                    draws = draws.saturating_add(1);
                    if !self.0.source.retry(&error, draws).await {
                        return Err(error);
                    }
                }
            }
        }
    }
}

impl DrawError {
    /// Returns the limit that was reached, if one was.
    pub(crate) fn limit(&self) -> Option<BudgetLimit> {
        match self {
            Self::Short { resource, .. } => Some(BudgetLimit::new(Scope::Shared, *resource)),
            Self::Failed(_) => None,
        }
    }
}

impl fmt::Debug for SharedBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedBudget")
            .field("source", &self.0.source)
            .field("pool", &self.0.pool)
            .finish()
    }
}
