//! [`ErrorInfo`]: an error in machine-readable output.

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
