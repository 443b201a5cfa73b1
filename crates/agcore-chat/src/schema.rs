//! [`SchemaCheck`]: whether a value matches a JSON Schema.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Checks values against JSON Schemas. agcore-tools has one; the contract is here so that the cycle can check typed output.
pub trait SchemaCheck: Send + Sync {
    /// Checks a value.
    ///
    /// # Errors
    /// Every violation found; a schema that is itself wrong is one violation at its root.
    fn check(&self, schema: &Value, value: &Value) -> Result<(), Vec<SchemaViolation>>;
}

/// One place at which a value does not match, in words a model can act on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SchemaViolation {
    /// JSON path of the place: `$`, `$.city`, `$.days[2]`.
    pub path: String,
    /// What was expected there, and what was found.
    pub message: String,
}

impl SchemaViolation {
    /// A violation at a JSON path.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for SchemaViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}
