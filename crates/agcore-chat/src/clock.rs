//! [`Clock`]: time as a dependency that is passed in.

#[cfg(feature = "tokio")]
mod system;
#[cfg(feature = "timestamp")]
mod timestamp;

use std::{
    fmt::Debug,
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;

#[cfg(feature = "tokio")]
pub use system::SystemClock;
#[cfg(feature = "timestamp")]
pub use timestamp::{Timestamp, TimestampError};

/// A source of time and a way to wait. Libraries ask the clock they were given and never the system, so that tests can
/// control time.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use agcore_chat::Clock;
/// use async_trait::async_trait;
///
/// /// A clock at which it is always the start of 1970, and that never waits.
/// #[derive(Debug)]
/// struct Frozen;
///
/// #[async_trait]
/// impl Clock for Frozen {
///     fn now(&self) -> SystemTime {
///         SystemTime::UNIX_EPOCH
///     }
///
///     fn monotonic(&self) -> Duration {
///         Duration::ZERO
///     }
///
///     async fn sleep(&self, _duration: Duration) {}
/// }
///
/// assert_eq!(Frozen.now(), SystemTime::UNIX_EPOCH);
/// ```
#[async_trait]
pub trait Clock: Send + Sync + Debug {
    /// Returns the time of the wall clock.
    fn now(&self) -> SystemTime;

    /// Returns the time since a fixed but arbitrary moment; never goes backwards.
    fn monotonic(&self) -> Duration;

    /// Waits for a duration.
    ///
    /// Cancel safe: dropping the future ends the wait.
    async fn sleep(&self, duration: Duration);
}

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
