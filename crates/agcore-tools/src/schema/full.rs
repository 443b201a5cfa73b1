//! Full JSON Schema validation. References to other documents are never followed.

use std::fmt::Write as _;

use agcore_chat::{SchemaCheck, SchemaViolation};
use jsonschema::{
    PatternOptions, Validator,
    paths::{Location, LocationSegment},
};
use serde_json::Value;

use crate::{arguments::MESSAGE_BYTES, clip::clip};

/// More violations than these help nobody.
const MOST_VIOLATIONS: usize = 16;

/// Checks values against JSON Schemas of any draft, for typed output of the cycle. References to other documents are
/// never followed: a schema with one is a violation at its root.
#[derive(Debug, Clone, Copy, Default)]
pub struct SchemaValidator;

impl SchemaValidator {
    /// The validator.
    pub fn new() -> Self {
        Self
    }
}

impl SchemaCheck for SchemaValidator {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        match Compiled::new(schema) {
            Ok(compiled) => compiled.check(value),
            Err(why) => Err(vec![SchemaViolation::new(
                "$",
                format!("the schema itself is wrong: {why}"),
            )]),
        }
    }
}

/// A schema made ready.
#[derive(Debug)]
pub(super) struct Compiled(Validator);

impl Compiled {
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        // Patterns come from tools' servers: the engine without backtracking takes linear time on any text.
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
        Err(self.0.iter_errors(value).take(MOST_VIOLATIONS).map(violation).collect())
    }
}

/// Writes a location as `$.days[2].city`.
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
