//! A clock that a test controls.
//!
//! ```
//! use std::time::Duration;
//! use agcore_chat::Clock;
//! use agcore_testkit::clock::ManualClock;
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let clock = ManualClock::new();
//! let ((), ()) = tokio::join!(clock.sleep(Duration::from_secs(60)), async {
//!     clock.wait_for_sleeps(1).await;
//!     clock.advance(Duration::from_secs(60));
//! });
//! assert_eq!(clock.monotonic(), Duration::from_secs(60));
//! # });
//! ```

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use agcore_chat::Clock;
use async_trait::async_trait;
use tokio::sync::watch;

/// A [`Clock`] that does not move until a test advances it, or that jumps over every sleep.
///
/// ```
/// use std::time::Duration;
/// use agcore_chat::Clock;
/// use agcore_testkit::clock::ManualClock;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let clock = ManualClock::jumping();
/// clock.sleep(Duration::from_secs(3600)).await; // returns immediately
/// assert_eq!(clock.monotonic(), Duration::from_secs(3600));
/// assert_eq!(clock.sleeps(), [Duration::from_secs(3600)]);
/// # });
/// ```
#[derive(Debug)]
pub struct ManualClock {
    origin: SystemTime,
    elapsed: watch::Sender<Duration>,
    sleeps: Mutex<Vec<Duration>>,
    jumps: bool,
}

impl ManualClock {
    /// Creates a clock that moves only when [`advance`](Self::advance) is called. It starts at 2026-01-01T00:00:00Z.
    pub fn new() -> Self {
        Self::with_jumps(false)
    }

    /// Creates a clock on which every sleep returns immediately and advances the time by its duration. It starts at
    /// 2026-01-01T00:00:00Z.
    pub fn jumping() -> Self {
        Self::with_jumps(true)
    }

    fn with_jumps(jumps: bool) -> Self {
        const START: Duration = Duration::from_secs(1_767_225_600);
        let (elapsed, _) = watch::channel(Duration::ZERO);
        Self {
            origin: SystemTime::UNIX_EPOCH + START,
            elapsed,
            sleeps: Mutex::default(),
            jumps,
        }
    }

    /// Advances the time and wakes all sleeps that are due.
    pub fn advance(&self, by: Duration) {
        self.elapsed.send_modify(|elapsed| *elapsed += by);
    }

    /// Returns the durations of all sleeps started so far, in order.
    pub fn sleeps(&self) -> Vec<Duration> {
        self.sleeps.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until at least `count` sleeps have been started in total.
    ///
    /// This method is cancel safe.
    pub async fn wait_for_sleeps(&self, count: usize) {
        let mut changes = self.elapsed.subscribe();
        while self.sleeps().len() < count {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        self.origin + *self.elapsed.borrow()
    }

    fn monotonic(&self) -> Duration {
        *self.elapsed.borrow()
    }

    async fn sleep(&self, duration: Duration) {
        let until = self.monotonic() + duration;
        self.sleeps
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(duration);
        if self.jumps {
            self.advance(duration);
            return;
        }
        // Notifies `wait_for_sleeps` of the new sleep.
        self.advance(Duration::ZERO);
        let mut elapsed = self.elapsed.subscribe();
        if elapsed.wait_for(|elapsed| *elapsed >= until).await.is_err() {
            // Unreachable, because `self` owns the sender; never waking up is the safe fallback.
            std::future::pending::<()>().await;
        }
    }
}
