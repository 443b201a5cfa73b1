//! [`BreakerPolicy`]: when a circuit opens, and for how long.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::layer::seconds;
use agcore_wire::{LlmError, LlmErrorKind};

/// When a circuit opens, and for how long. In settings, times are in seconds.
///
/// ```
/// use std::time::Duration;
/// use agcore_llm::layer::breaker::BreakerPolicy;
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{"failures_in_row": 3, "open_for": 10}"#)?;
/// assert_eq!(policy.open_time(0), Duration::from_secs(10));
/// assert_eq!(policy.open_time(2), Duration::from_secs(40));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use]
#[non_exhaustive]
pub struct BreakerPolicy {
    /// The number of consecutive failures that opens the circuit. The default is 5.
    pub failures_in_row: u32,
    /// The share of failures among the last calls that opens the circuit, from 0 to 1. The default is 0.5.
    pub failure_rate: f64,
    /// The number of calls among which the share is measured; with fewer calls it has no effect. The default is 20.
    pub window: u32,
    /// How long the circuit stays open before a call may probe the server. Doubles with each probe that fails. The default
    /// is 30 s.
    #[serde(with = "seconds")]
    pub open_for: Duration,
    /// The longest time that the circuit stays open. The default is 300 s.
    #[serde(with = "seconds")]
    pub cap: Duration,
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        Self {
            failures_in_row: 5,
            failure_rate: 0.5,
            window: 20,
            open_for: Duration::from_secs(30),
            cap: Duration::from_secs(300),
        }
    }
}

impl BreakerPolicy {
    /// Creates the default policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of consecutive failures that opens the circuit.
    pub fn with_failures_in_row(mut self, failures: u32) -> Self {
        self.failures_in_row = failures;
        self
    }

    /// Sets the share of failures that opens the circuit, and the number of calls among which it is measured.
    pub fn with_failure_rate(mut self, share: f64, window: u32) -> Self {
        self.failure_rate = share;
        self.window = window;
        self
    }

    /// Sets how long the circuit stays open at first, and at most.
    pub fn with_open_for(mut self, first: Duration, cap: Duration) -> Self {
        self.open_for = first;
        self.cap = cap;
        self
    }

    /// Returns how long the circuit stays open after this many failed probes.
    pub fn open_time(&self, failed_probes: u32) -> Duration {
        let factor = 2_u32.checked_pow(failed_probes);
        let time = factor.and_then(|factor| self.open_for.checked_mul(factor));
        time.map_or(self.cap, |time| time.min(self.cap))
    }

    /// Checks that the circuit can close.
    ///
    /// # Errors
    /// Returns `InvalidRequest` for a count of 0, or a share that is not above 0 and at most 1.
    pub(crate) fn check(&self) -> Result<(), LlmError> {
        let problem = if self.failures_in_row == 0 {
            "`failures_in_row` is 0"
        } else if self.window == 0 {
            "`window` is 0"
        } else if !(self.failure_rate > 0.0 && self.failure_rate <= 1.0) {
            "`failure_rate` is not above 0 and at most 1"
        } else {
            return Ok(());
        };
        let message = format!("invalid policy of a circuit breaker: {problem}, so it would not stay closed");
        Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
    }
}
