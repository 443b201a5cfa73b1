//! [`NodeOptions`]: time, attempts and visits of a node.

use std::time::Duration;

/// The time, attempts and visits that a node is allowed.
///
/// ```
/// use std::time::Duration;
///
/// use agcore_flow::{Limit, NodeOptions, Retry};
///
/// let options = NodeOptions::new()
///     .with_timeout(Duration::from_secs(30))
///     .with_retry(Retry::new(3).with_wait(Duration::from_millis(100)))
///     .with_limit(Limit::new(5).with_exit("report"));
/// assert_eq!(options.retry.wait_after(2), Duration::from_millis(200));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NodeOptions {
    /// The time that one attempt may take. By default, there is no limit.
    pub timeout: Option<Duration>,
    /// How often the node is tried.
    pub retry: Retry,
    /// How often the node may be visited in a run. Every loop needs a node with a limit.
    pub limit: Option<Limit>,
}

/// The number of attempts of a node, and the waits in between.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// The number of attempts, with the first one. The default is 1.
    pub attempts: u32,
    /// The wait after the first attempt, which doubles with each further one. The default is one second.
    pub wait: Duration,
    /// The longest wait. The default is one minute.
    pub max_wait: Duration,
}

/// The number of visits that a node is allowed in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limit {
    /// The number of visits.
    pub visits: u32,
    /// The node that is visited instead when the limit is reached. Without one, the run fails.
    pub exit: Option<String>,
}

impl NodeOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the time that one attempt may take.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets how often the node is tried.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sets how often the node may be visited.
    #[must_use]
    pub fn with_limit(mut self, limit: impl Into<Limit>) -> Self {
        self.limit = Some(limit.into());
        self
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Retry {
    /// Allows a number of attempts, with the first one.
    pub fn new(attempts: u32) -> Self {
        Self {
            attempts,
            wait: Duration::from_secs(1),
            max_wait: Duration::from_secs(60),
        }
    }

    /// Sets the wait after the first attempt.
    #[must_use]
    pub fn with_wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Sets the longest wait.
    #[must_use]
    pub fn with_max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    /// Returns the wait after an attempt, from 1.
    pub fn wait_after(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(31);
        self.wait.saturating_mul(1 << doublings).min(self.max_wait)
    }
}

impl Limit {
    /// Allows a number of visits.
    pub fn new(visits: u32) -> Self {
        Self { visits, exit: None }
    }

    /// Sets the node that is visited instead when the limit is reached.
    #[must_use]
    pub fn with_exit(mut self, node: impl Into<String>) -> Self {
        self.exit = Some(node.into());
        self
    }
}

impl From<u32> for Limit {
    fn from(visits: u32) -> Self {
        Self::new(visits)
    }
}
