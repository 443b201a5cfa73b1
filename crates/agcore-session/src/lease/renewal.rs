//! [`Renewal`], [`Release`] and [`CancelRequest`]: the changes of a lease, with their answers.

use std::time::Duration;

/// The answer to the renewal of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// The worker still has the run.
    Held {
        /// How long the lease holds, from the moment at which the store has answered.
        remaining: Duration,
        /// Whether somebody has asked to cancel the run.
        cancel_requested: bool,
    },
    /// The lease has expired, was released, or the run is over. The worker has to stop at once.
    Lost,
}

/// The way in which a worker gives a lease back.
///
/// ```
/// use std::time::Duration;
/// use agcore_session::{Release, ReleaseReason};
///
/// let now = Release::new(ReleaseReason::GivenBack);
/// let later = Release::new(ReleaseReason::Failed).with_delay(Duration::from_secs(30));
/// assert_ne!(now, later);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Release {
    /// The reason.
    pub reason: ReleaseReason,
    /// How long no worker takes the run again.
    pub delay: Option<Duration>,
}

/// Why a lease is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReleaseReason {
    /// The worker ends, or has no place for the run. The claim does not count as an attempt.
    GivenBack,
    /// The attempt has failed, and another one may succeed.
    Failed,
}

/// The state in which a request to cancel has found a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CancelRequest {
    /// A worker has the run, and learns of the request with its next renewal.
    Held,
    /// No worker has the run. The next one that claims it learns of the request with its lease; or the caller ends the run itself.
    Free,
    /// The run is over.
    Over,
}

impl Release {
    /// Creates a release after which the run can be claimed at once.
    pub const fn new(reason: ReleaseReason) -> Self {
        Self { reason, delay: None }
    }

    /// Sets how long no worker takes the run again.
    #[must_use]
    pub const fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }
}
