//! [`SchemaValidator`]: validation of any value, for the typed output of the agent loop.

use agcore_chat::{SchemaCheck, SchemaViolation};
use serde_json::Value;

use super::full::Validator;

/// Checks values against JSON Schemas, for the typed output of the agent loop. Requires the feature `schema`.
///
/// All keywords of all drafts are understood. References to other documents are never followed. A schema that is invalid is
/// reported as a violation at the root.
///
/// ```
/// use agcore_chat::SchemaCheck;
/// use agcore_tools::SchemaValidator;
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"days": {"type": "array", "items": {"minimum": 1}}}});
/// let validator = SchemaValidator::new();
/// assert!(validator.check(&schema, &json!({"days": [1, 2]})).is_ok());
///
/// let violations = validator.check(&schema, &json!({"days": [1, 0]})).unwrap_err();
/// assert_eq!(violations[0].to_string(), "$.days[1]: 0 is less than the minimum of 1");
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct SchemaValidator;

impl SchemaValidator {
    /// Creates a validator.
    pub fn new() -> Self {
        Self
    }

    /// Checks a schema itself, before a model is asked for values that match it.
    ///
    /// # Errors
    /// A message for people if the schema is invalid.
    ///
    /// ```
    /// use agcore_tools::SchemaValidator;
    /// use serde_json::json;
    ///
    /// let validator = SchemaValidator::new();
    /// assert!(validator.check_schema(&json!({"type": "string"})).is_ok());
    /// assert!(validator.check_schema(&json!({"type": "strng"})).is_err());
    /// ```
    pub fn check_schema(&self, schema: &Value) -> Result<(), String> {
        Validator::new(schema).map(drop)
    }
}

impl SchemaCheck for SchemaValidator {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        match Validator::new(schema) {
            Ok(validator) => validator.check(value),
            Err(reason) => Err(vec![SchemaViolation::new(
                "$",
                format!("the schema itself is invalid: {reason}"),
            )]),
        }
    }
}
