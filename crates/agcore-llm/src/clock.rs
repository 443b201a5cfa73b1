//! [`SystemClock`] and [`system_random`]: the real time and real chance, for whoever composes the parts. Everything else in
//! this crate takes them from outside.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use agcore_chat::Clock;
use async_trait::async_trait;

use crate::layer::retry::Random;

/// The system's clock; waits on tokio's timer.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock whose monotonic time begins now.
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the system's clock"
    )]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Numbers from 0 to 1 of the thread's own generator; good for jitter, not for secrets.
pub fn system_random() -> Random {
    Arc::new(fastrand::f64)
}
