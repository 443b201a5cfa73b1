//! [`ManualClock`]: time that passes when a test says so.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use agcore_chat::Clock;
use async_trait::async_trait;
use tokio::sync::watch;

/// A clock that stands still until it is turned, or that jumps over every wait.
///
/// ```
/// use std::time::Duration;
/// use agcore_chat::Clock;
/// use agcore_testkit::clock::ManualClock;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let clock = ManualClock::jumping();
/// clock.sleep(Duration::from_secs(3600)).await; // returns at once
/// assert_eq!(clock.monotonic(), Duration::from_secs(3600));
/// assert_eq!(clock.waits(), [Duration::from_secs(3600)]);
/// # });
/// ```
#[derive(Debug)]
pub struct ManualClock {
    origin: SystemTime,
    elapsed: watch::Sender<Duration>,
    waits: Mutex<Vec<Duration>>,
    jumps: bool,
}

impl ManualClock {
    /// A clock that stands still until [`advance`](Self::advance); it begins 2026-01-01T00:00:00Z.
    pub fn new() -> Self {
        Self::with_jumps(false)
    }

    /// A clock on which every wait ends at once and moves the time by as much.
    pub fn jumping() -> Self {
        Self::with_jumps(true)
    }

    fn with_jumps(jumps: bool) -> Self {
        const START: Duration = Duration::from_secs(1_767_225_600);
        let (elapsed, _) = watch::channel(Duration::ZERO);
        Self {
            origin: SystemTime::UNIX_EPOCH + START,
            elapsed,
            waits: Mutex::default(),
            jumps,
        }
    }

    /// Moves the time; waits that are over end.
    pub fn advance(&self, by: Duration) {
        self.elapsed.send_modify(|elapsed| *elapsed += by);
    }

    /// All waits that were begun, in order.
    pub fn waits(&self) -> Vec<Duration> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends when so many waits have been begun.
    pub async fn waited(&self, count: usize) {
        let mut changes = self.elapsed.subscribe();
        while self.waits().len() < count {
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
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).push(duration);
        if self.jumps {
            self.advance(duration);
            return;
        }
        // Tells `waited` of the new wait.
        self.advance(Duration::ZERO);
        let mut elapsed = self.elapsed.subscribe();
        if elapsed.wait_for(|elapsed| *elapsed >= until).await.is_err() {
            // The sender lives as long as `self`, so this cannot be; never waking up is the safe answer.
            std::future::pending::<()>().await;
        }
    }
}
