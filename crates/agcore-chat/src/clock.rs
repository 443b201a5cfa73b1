//! [`Clock`]: time, handed in.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;

/// The time, and waiting. Library code asks the clock it was given and never the system, so that tests can turn it.
#[async_trait]
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The wall clock.
    fn now(&self) -> SystemTime;

    /// Time since some fixed moment; never goes back.
    fn monotonic(&self) -> Duration;

    /// Waits. Cancel safe: dropping the future ends the wait.
    async fn sleep(&self, duration: Duration);
}

/// A shared clock is a clock.
#[async_trait]
impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> SystemTime {
        (**self).now()
    }

    fn monotonic(&self) -> Duration {
        (**self).monotonic()
    }

    async fn sleep(&self, duration: Duration) {
        (**self).sleep(duration).await;
    }
}
