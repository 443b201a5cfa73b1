//! [`HookBounds`]: what ends a hook that hangs.

use std::time::Duration;

use agcore_chat::Clock;
use tokio_util::sync::CancellationToken;

use crate::budget::BudgetLimit;

/// How long hooks that are told of something may take after their turn was cancelled or ran out of time.
pub const GRACE: Duration = Duration::from_secs(1);

/// What ends a hook that hangs: the turn's token, its budgets of time.
#[derive(Debug, Clone, Copy)]
pub struct HookBounds<'a> {
    pub(super) clock: &'a dyn Clock,
    token: &'a CancellationToken,
    /// The moment of the clock at which a budget of time is used up.
    until: Option<(Duration, BudgetLimit)>,
}

impl<'a> HookBounds<'a> {
    /// A token alone.
    pub fn new(clock: &'a dyn Clock, token: &'a CancellationToken) -> Self {
        Self {
            clock,
            token,
            until: None,
        }
    }

    /// Sets how much time is left from now on, and whose it is.
    pub fn with_time_left(mut self, left: Option<(Duration, BudgetLimit)>) -> Self {
        self.until = left.map(|(left, limit)| (self.clock.monotonic().saturating_add(left), limit));
        self
    }

    /// Ends when nobody may wait for a verdict any more.
    pub(super) async fn stop(&self) -> HookStop {
        tokio::select! {
            biased;
            () = self.token.cancelled() => HookStop::Cancelled,
            limit = self.out_of_time() => HookStop::OutOfTime(limit),
        }
    }

    /// Ends when a hook that is only told of something must have come to its end.
    pub(super) async fn grace_over(&self) {
        self.stop().await;
        self.clock.sleep(GRACE).await;
    }

    async fn out_of_time(&self) -> BudgetLimit {
        match self.until {
            Some((until, limit)) => {
                self.clock.sleep(until.saturating_sub(self.clock.monotonic())).await;
                limit
            }
            None => std::future::pending().await,
        }
    }
}

/// Why what hooks were asked about does not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookStop {
    /// A hook said no, or failed and [may not](super::Hook::fails_closed).
    Blocked(String),
    /// The turn was cancelled while a hook was asked.
    Cancelled,
    /// A budget of time was used up while a hook was asked.
    OutOfTime(BudgetLimit),
}
