//! [`SchemaCheck`]: the contract for validating values against JSON Schemas.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Validates values against JSON Schemas.
///
/// agcore-tools has an implementation. The contract is defined here so that the agent loop can validate typed output.
///
/// ```
/// use agcore_chat::{SchemaCheck, SchemaViolation};
/// use serde_json::{Value, json};
///
/// /// Checks `required` only.
/// struct RequiredMembers;
///
/// impl SchemaCheck for RequiredMembers {
///     fn check(&self, schema: &Value, value: &Value) -> Result<(), Vec<SchemaViolation>> {
///         let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
///         let missing = required.filter(|name| value.get(name).is_none());
///         let violations: Vec<_> = missing
///             .map(|name| SchemaViolation::new("$", format!("`{name}` is required, but missing")))
///             .collect();
///         if violations.is_empty() { Ok(()) } else { Err(violations) }
///     }
/// }
///
/// let schema = json!({"type": "object", "required": ["city"]});
/// assert!(RequiredMembers.check(&schema, &json!({"city": "Paris"})).is_ok());
/// let violations = RequiredMembers.check(&schema, &json!({})).unwrap_err();
/// assert_eq!(violations[0].to_string(), "$: `city` is required, but missing");
/// ```
pub trait SchemaCheck: Send + Sync {
    /// Validates a value.
    ///
    /// # Errors
    /// All violations. An invalid schema is reported as one violation at the root.
    fn check(&self, schema: &Value, value: &Value) -> Result<(), Vec<SchemaViolation>>;
}

/// A mismatch between a value and its schema, described so that a model can correct it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SchemaViolation {
    /// The JSON path of the location, such as `$`, `$.city` or `$.days[2]`.
    pub path: String,
    /// A message: what was expected and what was found.
    pub message: String,
}

impl SchemaViolation {
    /// Creates a violation at a JSON path.
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
