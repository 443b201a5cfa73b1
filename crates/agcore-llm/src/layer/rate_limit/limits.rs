//! [`RateLimits`]: how much may be sent in a minute, and how long a call may wait.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::layer::seconds;
use agcore_wire::{LlmError, LlmErrorKind};

/// The limits for any 60 seconds, and the longest wait of a call. In settings, `max_wait` is in seconds.
///
/// ```
/// use std::time::Duration;
/// use agcore_llm::layer::rate_limit::RateLimits;
///
/// let limits: RateLimits = serde_json::from_str(r#"{"requests_per_minute": 500, "max_wait": 2.5}"#)?;
/// let expected = RateLimits::new().with_requests_per_minute(500).with_max_wait(Duration::from_millis(2500));
/// assert_eq!(limits, expected);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use]
#[non_exhaustive]
pub struct RateLimits {
    /// The number of requests. Unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// The number of tokens in prompts and answers together. Unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u64>,
    /// The longest wait. A call that would wait longer fails at once; with 0, no call waits. The default is 60 s.
    #[serde(with = "seconds")]
    pub max_wait: Duration,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            requests_per_minute: None,
            tokens_per_minute: None,
            max_wait: Duration::from_secs(60),
        }
    }
}

impl RateLimits {
    /// Creates limits that allow everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many requests may be sent in 60 seconds.
    pub fn with_requests_per_minute(mut self, requests: u32) -> Self {
        self.requests_per_minute = Some(requests);
        self
    }

    /// Sets how many tokens may be used in 60 seconds.
    pub fn with_tokens_per_minute(mut self, tokens: u64) -> Self {
        self.tokens_per_minute = Some(tokens);
        self
    }

    /// Sets the longest wait.
    pub fn with_max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    /// Checks that the limits allow anything at all.
    ///
    /// # Errors
    /// Returns `InvalidRequest` for a limit of 0.
    pub(crate) fn check(&self) -> Result<(), LlmError> {
        let name = match (self.requests_per_minute, self.tokens_per_minute) {
            (Some(0), _) => "requests_per_minute",
            (_, Some(0)) => "tokens_per_minute",
            _ => return Ok(()),
        };
        let message = format!("`{name}` is 0, which would never allow a request; omit it for no limit");
        Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
    }
}
