//! [`ErrorInfo`]: an error in machine-readable output. [`Retry`]: a call that is repeated after one.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct ErrorInfo {
    /// The kind, such as `usage`, `auth`, `rate_limit`, `connection`, `truncated`.
    pub kind: String,
    /// A description of what happened and what to do.
    pub message: String,
}

impl ErrorInfo {
    /// Creates an error.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
        }
    }
}

/// A model call that is repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct Retry {
    /// The number of the next attempt, from 2; null if the reply started over.
    pub attempt: Option<u32>,
    /// The time until then; null if the reply started over.
    pub delay_ms: Option<u64>,
    /// Whether a reply broke off and starts over. Deltas since the last whole message are void then.
    pub restarted: bool,
    /// The reason that the last attempt failed.
    pub error: ErrorInfo,
}
