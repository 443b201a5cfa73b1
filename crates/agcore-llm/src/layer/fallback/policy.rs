//! [`FallbackPolicy`]: which failures go to the next provider.

use serde::{Deserialize, Serialize};

use crate::{
    error::{LlmError, LlmErrorKind},
    layer::retry::MidStream,
};

/// When and how a call goes to the next provider.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FallbackPolicy {
    /// Which failures go to the next one.
    pub on: FallbackOn,
    /// What happens when a stream dies after parts of the answer were handed out.
    pub mid_stream: MidStream,
    /// Whether calls of one [trace](crate::Call::trace) are drawn alike, so that a conversation stays with one provider
    /// and its prompt cache.
    pub sticky: bool,
}

/// Which failures go to the next provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FallbackOn {
    /// Those of the one that was asked: it is down, limited, has no credit, does not know the key or the model, or the
    /// conversation is longer than its window. Not those of the request: it is invalid, or a filter refused it.
    #[default]
    Fault,
    /// Only those that a retry may help, and a conversation that is too long.
    Retryable,
}

impl FallbackOn {
    /// Whether a failure goes to the next one.
    pub fn includes(self, error: &LlmError) -> bool {
        let kind = error.kind();
        let narrow = error.is_retryable() || matches!(kind, LlmErrorKind::ContextLength { .. });
        let of_the_asked = matches!(
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
        narrow || self == Self::Fault && of_the_asked
    }
}

impl FallbackPolicy {
    /// The default policy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which failures go to the next one.
    pub fn with_on(mut self, on: FallbackOn) -> Self {
        self.on = on;
        self
    }

    /// Sets what happens when a stream dies half-way.
    pub fn with_mid_stream(mut self, rule: MidStream) -> Self {
        self.mid_stream = rule;
        self
    }

    /// Sets whether calls of one trace are drawn alike.
    pub fn with_sticky(mut self, sticky: bool) -> Self {
        self.sticky = sticky;
        self
    }
}
