//! [`TimeLeft`]: how long a step may take.

use std::time::Duration;

use agcore_chat::Clock;

use crate::budget::{BudgetLimit, BudgetPool, Resource, Scope};

/// The time that is left for a step.
#[derive(Clone, Copy, Default)]
pub(in crate::driver) struct TimeLeft<'a> {
    /// The time that is left of a budget that only this conversation spends from.
    pub(in crate::driver) own: Option<(Duration, BudgetLimit)>,
    /// A pool, and whether a part of its time is held back for wrapping up.
    pub(in crate::driver) pool: Option<(&'a BudgetPool, bool)>,
}

impl TimeLeft<'_> {
    /// Returns the most time that the step may take. Turns that share a pool may leave less.
    pub(in crate::driver) fn longest(self) -> Option<Duration> {
        let pool = self.pool.and_then(|(pool, held_back)| pool.time_left_with(held_back));
        self.own.map(|(left, _)| left).into_iter().chain(pool).min()
    }

    /// Returns the limit that is reached, if no time is left.
    pub(in crate::driver) fn exhausted(self) -> Option<BudgetLimit> {
        let own = self.own.filter(|(left, _)| left.is_zero()).map(|(_, limit)| limit);
        own.or_else(|| {
            let (pool, held_back) = self.pool?;
            let left = pool.time_left_with(held_back)?;
            left.is_zero().then_some(BudgetLimit::new(Scope::Pool, Resource::Time))
        })
    }

    /// Waits until the time is over; forever if there is no limit.
    pub(in crate::driver) async fn over(self, clock: &dyn Clock) -> BudgetLimit {
        if self.own.is_none() && self.pool.is_none() {
            return std::future::pending().await;
        }
        // Boxed because it is large and most turns have no limit.
        Box::pin(self.limited(clock)).await
    }

    async fn limited(self, clock: &dyn Clock) -> BudgetLimit {
        let own = async {
            match self.own {
                Some((left, limit)) => {
                    clock.sleep(left).await;
                    limit
                }
                None => std::future::pending().await,
            }
        };
        let Some((pool, held_back)) = self.pool else {
            return own.await;
        };
        tokio::select! {
            biased;
            limit = own => limit,
            () = pool.out_of_time(clock, held_back) => BudgetLimit::new(Scope::Pool, Resource::Time),
        }
    }
}
