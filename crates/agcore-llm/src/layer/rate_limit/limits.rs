//! [`RateLimits`]: how much may be sent in a minute, and how long a call may wait for its turn.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    error::{LlmError, LlmErrorKind},
    layer::seconds,
};

/// How much may be sent in any 60 seconds, and how long a call may wait for its turn.
///
/// In settings `requests_per_minute`, `tokens_per_minute`, and `max_wait` in seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RateLimits {
    /// Requests; no limit when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Tokens, of prompts and answers together; no limit when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u64>,
    /// The longest wait, 60 s. A call that would wait longer fails at once; with 0 none waits.
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
    /// No limits.
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

    /// Whether anything could ever be sent.
    ///
    /// # Errors
    /// `InvalidRequest` for a limit of 0.
    pub(crate) fn check(&self) -> Result<(), LlmError> {
        let zero = match (self.requests_per_minute, self.tokens_per_minute) {
            (Some(0), _) => "requests_per_minute",
            (_, Some(0)) => "tokens_per_minute",
            _ => return Ok(()),
        };
        let message = format!("`{zero}` is 0, so that nothing could ever be sent; leave it out for no limit");
        Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
    }
}
