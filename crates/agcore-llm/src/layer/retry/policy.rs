//! [`RetryPolicy`]: how often, how long, and what a stream that dies half-way means.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// When a failed call is made again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// Attempts after the first; 3.
    pub max_retries: u32,
    /// The longest wait before the first retry; doubles with each; 1 s.
    pub base: Duration,
    /// The longest wait of our own; 30 s. Hints of the server may be longer.
    pub cap: Duration,
    /// All attempts and waits together; 120 s.
    pub budget: Duration,
    /// What happens when a stream dies after parts of the answer were handed out.
    pub mid_stream: MidStream,
}

/// What happens when a stream dies after parts of the answer were handed out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MidStream {
    /// The call fails, with what had arrived.
    #[default]
    Fail,
    /// The call is made again; a restart notice says that what came so far is void.
    Restart,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 3,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(30),
            budget: Duration::from_secs(120),
            mid_stream: MidStream::Fail,
        }
    }
}

impl RetryPolicy {
    /// The default policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// A policy that never retries.
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

    /// Sets the longest wait before the first retry, and the longest of all.
    pub fn with_backoff(mut self, base: Duration, cap: Duration) -> Self {
        self.base = base;
        self.cap = cap;
        self
    }

    /// Sets the time for all attempts and waits together.
    pub fn with_budget(mut self, budget: Duration) -> Self {
        self.budget = budget;
        self
    }

    /// Sets what happens when a stream dies half-way.
    pub fn with_mid_stream(mut self, rule: MidStream) -> Self {
        self.mid_stream = rule;
        self
    }

    /// How long to wait before the attempt after `attempt` (from 0): the server's hint where there is one, else a share
    /// `random` (0 to 1) of the base doubled for each attempt, at most the cap.
    pub fn delay(&self, attempt: u32, hint: Option<Duration>, random: f64) -> Duration {
        if let Some(hint) = hint {
            return hint;
        }
        let doubled = 2_u32
            .checked_pow(attempt)
            .and_then(|factor| self.base.checked_mul(factor));
        let ceiling = doubled.map_or(self.cap, |wait| wait.min(self.cap));
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
        let endless = RetryPolicy::new().with_backoff(Duration::MAX, Duration::MAX);
        assert_eq!(endless.delay(0, None, 1.0), Duration::MAX);
    }
}
