//! [`PollPolicy`]: how often and for how long the state of a job is asked for.

use std::time::Duration;

/// The rule for how often and for how long the state of a job is asked for.
///
/// ```
/// use std::time::Duration;
/// use agcore_llm::PollPolicy;
///
/// let policy = PollPolicy::new().with_interval(Duration::from_secs(2));
/// assert_eq!(policy.max_wait, Duration::from_secs(900));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct PollPolicy {
    /// The time between two requests. The default is 5 s.
    pub interval: Duration,
    /// The longest time to wait for the end of the job. The default is 15 minutes.
    pub max_wait: Duration,
    /// The number of requests in a row that may fail with an error that can be retried. The default is 3.
    pub max_failures: u32,
}

impl Default for PollPolicy {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(5),
            max_wait: Duration::from_secs(900),
            max_failures: 3,
        }
    }
}

impl PollPolicy {
    /// Creates the default policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the time between two requests.
    pub fn with_interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// Sets the longest time to wait for the end of the job.
    pub fn with_max_wait(mut self, max: Duration) -> Self {
        self.max_wait = max;
        self
    }

    /// Sets the number of requests in a row that may fail with an error that can be retried.
    pub fn with_max_failures(mut self, max: u32) -> Self {
        self.max_failures = max;
        self
    }
}
