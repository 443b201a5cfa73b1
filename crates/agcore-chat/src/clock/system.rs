//! [`SystemClock`]: the real time, for applications that run on tokio.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use tokio::time::Instant;

use super::Clock;

/// The system's clock, which waits on tokio's timer.
///
/// Waiting and monotonic time follow tokio's paused time in tests; [`now`](Clock::now) is always the system's time.
///
/// ```
/// use std::time::Duration;
///
/// use agcore_chat::{Clock, SystemClock};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let clock = SystemClock::new();
/// clock.sleep(Duration::from_secs(1)).await;
/// assert!(clock.monotonic() >= Duration::from_secs(1));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Creates a clock whose monotonic time starts at zero now.
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }

    /// Creates a clock for what shares one, such as stores, routers and retrievers.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_chat::{Clock, SystemClock};
    ///
    /// let clock: Arc<dyn Clock> = SystemClock::shared();
    /// assert_eq!(Arc::strong_count(&clock), 1);
    /// ```
    pub fn shared() -> Arc<Self> {
        Arc::new(Self::new())
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
        reason = "this is the implementation that applications pass in; all other code takes a `Clock`"
    )]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    /// Waits on tokio's timer.
    ///
    /// # Panics
    /// Outside a tokio runtime whose timer is enabled.
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
