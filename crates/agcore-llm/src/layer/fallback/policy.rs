//! [`FallbackPolicy`]: which failures are followed by the next provider.

use serde::{Deserialize, Serialize};

use crate::layer::attempt::MidStream;
use agcore_wire::{LlmError, LlmErrorKind};

/// When and how a call goes to the next provider.
///
/// ```
/// use agcore_llm::{LlmError, LlmErrorKind, layer::fallback::{FallbackOn, FallbackPolicy}};
///
/// let policy: FallbackPolicy = serde_json::from_str(r#"{"on": "retryable", "sticky": true}"#)?;
/// assert_eq!(policy, FallbackPolicy::new().with_on(FallbackOn::Retryable).with_sticky(true));
///
/// let no_credit = LlmError::new(LlmErrorKind::QuotaExhausted, "the account has no credit left");
/// assert!(FallbackOn::Fault.includes(&no_credit));
/// assert!(!FallbackOn::Retryable.includes(&no_credit));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use]
#[non_exhaustive]
pub struct FallbackPolicy {
    /// The failures that are followed by the next provider.
    pub on: FallbackOn,
    /// The reaction to a provider that fails after it has returned parts of an answer.
    pub mid_stream: MidStream,
    /// Whether all calls with the same [trace](crate::Call::trace) draw the same provider, so that a conversation keeps its
    /// prompt cache. Only matters where providers have weights.
    pub sticky: bool,
}

/// The failures that are followed by the next provider. If a provider's API cannot express a request, the next one is
/// always tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FallbackOn {
    /// Failures of the provider: it is down or overloaded, has no credit left, does not know the key or the model, or its
    /// context window is too small. Failures of the request end the call: the server finds it invalid, or a content filter
    /// refused it.
    #[default]
    Fault,
    /// Only retryable failures, and a context window that is too small.
    Retryable,
}

impl FallbackOn {
    /// Returns whether this failure is followed by the next provider.
    pub fn includes(self, error: &LlmError) -> bool {
        let kind = error.kind();
        let is_temporary = error.is_retryable() || matches!(kind, LlmErrorKind::ContextLength { .. });
        let is_of_provider = matches!(
            kind,
            LlmErrorKind::Authentication
                | LlmErrorKind::Permission
                | LlmErrorKind::NotFound
                | LlmErrorKind::QuotaExhausted
                | LlmErrorKind::RateLimit
                | LlmErrorKind::Overloaded
                | LlmErrorKind::Server
                | LlmErrorKind::Connect
                | LlmErrorKind::Timeout(_)
                | LlmErrorKind::Truncated
                | LlmErrorKind::Malformed
        );
        is_temporary || self == Self::Fault && is_of_provider
    }
}

impl FallbackPolicy {
    /// Creates the default policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which failures are followed by the next provider.
    pub fn with_on(mut self, on: FallbackOn) -> Self {
        self.on = on;
        self
    }

    /// Sets what happens if a provider fails after it has returned parts of an answer.
    pub fn with_mid_stream(mut self, rule: MidStream) -> Self {
        self.mid_stream = rule;
        self
    }

    /// Sets whether all calls with the same trace draw the same provider.
    pub fn with_sticky(mut self, sticky: bool) -> Self {
        self.sticky = sticky;
        self
    }
}
