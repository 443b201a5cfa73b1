//! [`TokioClock`]: a [`Clock`] for applications that run on tokio.

use std::time::{Duration, SystemTime};

use agcore_chat::Clock;
use async_trait::async_trait;
use tokio::time::Instant;

/// The system's time, and tokio's timers. Follows tokio's paused time in tests.
///
/// This crate never makes one by itself: it is handed to [`ToolContext::builder`](crate::ToolContext::builder).
#[derive(Debug, Clone)]
pub struct TokioClock {
    start: Instant,
}

impl TokioClock {
    /// A clock whose monotonic time begins now.
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Clock for TokioClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that the application hands in"
    )]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
