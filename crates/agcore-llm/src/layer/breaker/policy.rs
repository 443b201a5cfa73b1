//! [`BreakerPolicy`]: when a circuit opens, and for how long.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    error::{LlmError, LlmErrorKind},
    layer::seconds,
};

/// When a circuit opens, and for how long. In settings times are seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BreakerPolicy {
    /// So many failures in a row open it; 5.
    pub failures_in_row: u32,
    /// So large a share of the last calls that failed opens it, from 0 to 1; 0.5.
    pub failure_rate: f64,
    /// How many calls the share is taken of; 20. It says nothing before there were as many.
    pub window: u32,
    /// How long it stays open before one call may try; 30 s. Doubles with each try that fails.
    #[serde(with = "seconds")]
    pub open_for: Duration,
    /// The longest that it stays open; 300 s.
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
    /// The default policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many failures in a row open the circuit.
    pub fn with_failures_in_row(mut self, failures: u32) -> Self {
        self.failures_in_row = failures;
        self
    }

    /// Sets which share of how many calls opens the circuit.
    pub fn with_failure_rate(mut self, share: f64, window: u32) -> Self {
        self.failure_rate = share;
        self.window = window;
        self
    }

    /// Sets how long it stays open at first, and at most.
    pub fn with_open_for(mut self, first: Duration, cap: Duration) -> Self {
        self.open_for = first;
        self.cap = cap;
        self
    }

    /// How long the circuit stays open after so many tries that failed.
    pub fn open_time(&self, failed_tries: u32) -> Duration {
        let factor = 2_u32.checked_pow(failed_tries);
        let time = factor.and_then(|factor| self.open_for.checked_mul(factor));
        time.map_or(self.cap, |time| time.min(self.cap))
    }

    /// Whether a circuit could work like this.
    ///
    /// # Errors
    /// `InvalidRequest` for a count of 0, or a share that is none.
    pub(crate) fn check(&self) -> Result<(), LlmError> {
        let wrong = if self.failures_in_row == 0 {
            "`failures_in_row` is 0"
        } else if self.window == 0 {
            "`window` is 0"
        } else if !(self.failure_rate > 0.0 && self.failure_rate <= 1.0) {
            "`failure_rate` is not above 0 and at most 1"
        } else {
            return Ok(());
        };
        let message = format!("a circuit breaker whose {wrong} would never close");
        Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
    }
}
