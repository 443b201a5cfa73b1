//! [`SchemaValidator`]: full JSON Schema validation. References to other documents are never followed.

use std::fmt::Write as _;

use agcore_chat::{SchemaCheck, SchemaViolation, text::clip};
use jsonschema::{
    PatternOptions,
    paths::{Location, LocationSegment},
};
use serde_json::Value;

use crate::arguments::MESSAGE_BYTES;

/// The number of violations that are reported; a model gains nothing from more.
const MAX_VIOLATIONS: usize = 16;

/// Checks values against JSON Schemas of any draft, for the typed output of the agent loop.
///
/// References to other documents are never followed: a schema that has one is reported as a violation at the root.
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

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Validator(jsonschema::Validator);

impl Validator {
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        // Schemas come from tool servers, patterns included: an engine without backtracking takes linear time on any
        // input.
        let options = jsonschema::options()
            .offline()
            .with_pattern_options(PatternOptions::regex());
        options
            .build(schema)
            .map(Self)
            .map_err(|error| clip(&error.to_string(), MESSAGE_BYTES).into_owned())
    }

    pub(super) fn check(&self, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        if self.0.is_valid(value) {
            return Ok(());
        }
        let violation = |error: jsonschema::ValidationError<'_>| {
            let message = error.to_string();
            SchemaViolation::new(json_path(error.instance_path()), clip(&message, MESSAGE_BYTES))
        };
        Err(self.0.iter_errors(value).take(MAX_VIOLATIONS).map(violation).collect())
    }
}

/// Formats a location as `$.days[2].city`.
fn json_path(location: &Location) -> String {
    let mut text = String::from("$");
    for segment in location {
        // Writing to a String cannot fail.
        let _ = match segment {
            LocationSegment::Property(name) => write!(text, ".{name}"),
            LocationSegment::Index(index) => write!(text, "[{index}]"),
        };
    }
    text
}
