//! [`ResetClock`]: a clock that can go backwards.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use agcore_session::Clock;
use async_trait::async_trait;

/// A clock that advances only when it is set.
#[derive(Debug)]
pub(super) struct ResetClock(AtomicU64);

impl ResetClock {
    /// Creates a clock that shows this many seconds since 1970.
    pub(super) fn new(seconds: u64) -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(seconds)))
    }

    /// Sets the seconds since 1970.
    pub(super) fn set(&self, seconds: u64) {
        self.0.store(seconds, Ordering::Relaxed);
    }
}

#[async_trait]
impl Clock for ResetClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.monotonic()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }

    async fn sleep(&self, _duration: Duration) {}
}
