//! [`ErrorInfo`]: an error in machine-readable output. [`Retry`]: a call that is repeated after one.

use agcore::chat::Fault;
use schemars::JsonSchema;
use serde::Serialize;

/// An error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ErrorInfo {
    /// The kind, such as `usage`, `auth`, `rate_limit`, `connection`, `truncated`.
    pub(crate) kind: String,
    /// A description of what happened and what to do.
    pub(crate) message: String,
}

/// Translates a fault.
impl From<&Fault> for ErrorInfo {
    fn from(fault: &Fault) -> Self {
        Self {
            kind: fault.kind.as_str().to_owned(),
            message: fault.message.clone(),
        }
    }
}

/// A model call that is repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Retry {
    /// The number of the next attempt, from 2; null if the reply started over.
    pub(crate) attempt: Option<u32>,
    /// The time until then; null if the reply started over.
    pub(crate) delay_ms: Option<u64>,
    /// Whether a reply broke off and starts over. Deltas since the last whole message are void then.
    pub(crate) restarted: bool,
    /// The reason that the last attempt failed.
    pub(crate) error: ErrorInfo,
}
