//! [`RetryPolicy`]: the number of retries, their delays and their time budget.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::layer::attempt::MidStream;

/// When and how often a failed call is retried.
///
/// ```
/// use std::time::Duration;
/// use agcore_llm::layer::retry::RetryPolicy;
///
/// let policy = RetryPolicy::new().with_max_retries(5).with_backoff(Duration::from_secs(2), Duration::from_secs(20));
/// // Random delays of at most 2 s, 4 s, 8 s … up to 20 s. The last argument is the random number.
/// assert_eq!(policy.delay(0, None, 1.0), Duration::from_secs(2));
/// assert_eq!(policy.delay(2, None, 0.5), Duration::from_secs(4));
/// assert_eq!(policy.delay(9, None, 1.0), Duration::from_secs(20));
/// // A hint of the server takes precedence.
/// assert_eq!(policy.delay(0, Some(Duration::from_secs(45)), 0.5), Duration::from_secs(45));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[must_use]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The number of attempts after the first. The default is 3.
    pub max_retries: u32,
    /// The number of attempts after the first if no server listens on a port of this machine. Waiting rarely helps then,
    /// so the default is 1. It does not exceed `max_retries`.
    pub local_retries: u32,
    /// The longest delay before the first retry; it doubles with each retry. The default is 1 s.
    pub base: Duration,
    /// The longest delay before any retry, unless the server asks for more. The default is 30 s.
    pub cap: Duration,
    /// The time for all attempts and delays together. The default is 120 s.
    pub budget: Duration,
    /// The reaction to an attempt that fails after it has returned parts of an answer.
    pub mid_stream: MidStream,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 3,
            local_retries: 1,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(30),
            budget: Duration::from_secs(120),
            mid_stream: MidStream::Fail,
        }
    }
}

impl RetryPolicy {
    /// Creates the default policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a policy that never retries.
    pub fn never() -> Self {
        Self {
            max_retries: 0,
            ..Self::default()
        }
    }

    /// Sets the number of attempts after the first.
    pub fn with_max_retries(mut self, retries: u32) -> Self {
        self.max_retries = retries;
        self
    }

    /// Sets the number of attempts after the first if no server listens on a port of this machine.
    pub fn with_local_retries(mut self, retries: u32) -> Self {
        self.local_retries = retries;
        self
    }

    /// Sets the longest delay before the first retry, and before any retry.
    pub fn with_backoff(mut self, base: Duration, cap: Duration) -> Self {
        self.base = base;
        self.cap = cap;
        self
    }

    /// Sets the time for all attempts and delays together.
    pub fn with_budget(mut self, budget: Duration) -> Self {
        self.budget = budget;
        self
    }

    /// Sets what happens if an attempt fails after it has returned parts of an answer.
    pub fn with_mid_stream(mut self, rule: MidStream) -> Self {
        self.mid_stream = rule;
        self
    }

    /// Returns the delay after attempt number `attempt` (from 0).
    ///
    /// This is the hint of the server, if there is one. Otherwise it is the share `random` (from 0 to 1) of the base, which
    /// doubles with each attempt up to the cap.
    pub fn delay(&self, attempt: u32, hint: Option<Duration>, random: f64) -> Duration {
        if let Some(hint) = hint {
            return hint;
        }
        let doubled = 2_u32
            .checked_pow(attempt)
            .and_then(|factor| self.base.checked_mul(factor));
        let ceiling = doubled.map_or(self.cap, |delay| delay.min(self.cap));
        let share = if random.is_finite() {
            random.clamp(0.0, 1.0)
        } else {
            1.0
        };
        Duration::try_from_secs_f64(ceiling.as_secs_f64() * share).unwrap_or(ceiling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_jittered_doubled_and_capped() {
        let policy = RetryPolicy::new();
        let seconds = |attempt, hint: Option<u64>, random| {
            policy
                .delay(attempt, hint.map(Duration::from_secs), random)
                .as_secs_f64()
        };
        assert_eq!(seconds(0, None, 1.0), 1.0);
        assert_eq!(seconds(1, None, 0.5), 1.0);
        assert_eq!(seconds(3, None, 1.0), 8.0);
        assert_eq!(seconds(9, None, 1.0), 30.0);
        assert_eq!(seconds(u32::MAX, None, 1.0), 30.0);
        assert_eq!(seconds(0, None, 0.0), 0.0);
        assert_eq!(seconds(0, None, f64::NAN), 1.0);
        assert_eq!(seconds(0, Some(45), 0.1), 45.0);
        let unlimited = RetryPolicy::new().with_backoff(Duration::MAX, Duration::MAX);
        assert_eq!(unlimited.delay(0, None, 1.0), Duration::MAX);
    }
}
