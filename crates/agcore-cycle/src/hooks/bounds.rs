//! [`HookBounds`]: ends hooks that hang.

use std::time::Duration;

use agcore_chat::Clock;
use tokio_util::sync::CancellationToken;

use crate::budget::{BudgetLimit, BudgetPool, Resource, Scope};

/// The time that hooks which are only notified may still run after their turn was cancelled or ran out of time.
pub const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// The conditions that end a hook that hangs: the turn's cancellation token and its time budgets.
#[derive(Debug, Clone, Copy)]
pub struct HookBounds<'a> {
    pub(super) clock: &'a dyn Clock,
    token: &'a CancellationToken,
    /// The monotonic time at which a time budget is exhausted.
    deadline: Option<(Duration, BudgetLimit)>,
    /// A shared pool whose time may run out, and whether a part of it is held back for wrapping up.
    pool: Option<(&'a BudgetPool, bool)>,
}

impl<'a> HookBounds<'a> {
    /// Creates bounds with a cancellation token and without a time budget.
    pub fn new(clock: &'a dyn Clock, token: &'a CancellationToken) -> Self {
        Self {
            clock,
            token,
            deadline: None,
            pool: None,
        }
    }

    /// Sets how much time is left from now on, and the budget that limits it.
    #[must_use]
    pub fn with_time_left(mut self, left: Option<(Duration, BudgetLimit)>) -> Self {
        self.deadline = left.map(|(left, limit)| (self.clock.monotonic().saturating_add(left), limit));
        self
    }

    /// Sets the pool whose time may run out.
    #[must_use]
    pub(crate) fn with_pool(mut self, pool: Option<(&'a BudgetPool, bool)>) -> Self {
        self.pool = pool;
        self
    }

    /// Completes when the turn must no longer wait for a verdict.
    pub(super) async fn stop(&self) -> HookStop {
        tokio::select! {
            biased;
            () = self.token.cancelled() => HookStop::Cancelled,
            limit = self.out_of_time() => HookStop::OutOfTime(limit),
            () = self.pool_out_of_time() => {
                HookStop::OutOfTime(BudgetLimit::new(Scope::Pool, Resource::Time))
            }
        }
    }

    /// Completes when a hook that is only notified must have finished.
    pub(super) async fn grace_over(&self) {
        self.stop().await;
        self.clock.sleep(GRACE_PERIOD).await;
    }

    async fn out_of_time(&self) -> BudgetLimit {
        match self.deadline {
            Some((deadline, limit)) => {
                self.clock.sleep(deadline.saturating_sub(self.clock.monotonic())).await;
                limit
            }
            None => std::future::pending().await,
        }
    }

    async fn pool_out_of_time(&self) {
        match self.pool {
            Some((pool, held_back)) => pool.out_of_time(self.clock, held_back).await,
            None => std::future::pending().await,
        }
    }
}

/// The reason why the action that hooks were asked about does not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookStop {
    /// A hook blocked it, or failed and [fails closed](crate::Hook::fails_closed). Contains the reason.
    Blocked(String),
    /// The turn was cancelled while a hook ran.
    Cancelled,
    /// A time budget was exhausted while a hook ran.
    OutOfTime(BudgetLimit),
}
