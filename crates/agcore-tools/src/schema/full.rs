//! [`Validator`]: full JSON Schema validation. References to other documents are never followed.

use std::fmt::Write as _;

use agcore_chat::{SchemaViolation, text::clip};
use jsonschema::{
    PatternOptions, ValidationError,
    error::ValidationErrorKind,
    paths::{Location, LocationSegment},
};
use serde_json::{Map, Value};

use super::{
    alternatives::{Alternatives, Choice, MAX_VIOLATIONS},
    constants::not_one_of,
    unknown::unknown_member_message,
};
use crate::{arguments::MESSAGE_BYTES, error::NAME_BYTES};

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Validator {
    compiled: jsonschema::Validator,
    schema: Value,
}

/// The number of steps that the check of one pattern may go back. Only patterns with look-around or references to groups
/// go back at all; others take linear time.
const MAX_BACKTRACKS: usize = 100_000;

impl Validator {
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        // Schemas come from tool servers, patterns included. JSON Schema uses the patterns of ECMAScript, which have
        // look-around.
        let options = jsonschema::options()
            .offline()
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS));
        let compiled = options
            .build(schema)
            .map_err(|error| clip(&error.to_string(), MESSAGE_BYTES).into_owned())?;
        Ok(Self {
            compiled,
            schema: schema.clone(),
        })
    }

    pub(super) fn check(&self, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        if self.compiled.is_valid(value) {
            return Ok(());
        }
        let mut violations = Vec::new();
        for error in self.compiled.iter_errors(value) {
            self.add(&error, "", &mut violations);
        }
        violations.truncate(MAX_VIOLATIONS);
        if violations.is_empty() {
            // Only patterns could not be checked.
            return Ok(());
        }
        Err(violations)
    }

    /// Adds the violations that an error consists of, with what names the alternative that they belong to.
    fn add(&self, error: &ValidationError<'_>, tag: &str, violations: &mut Vec<SchemaViolation>) {
        use ValidationErrorKind as Kind;
        if violations.len() >= MAX_VIOLATIONS {
            return;
        }
        let path = json_path(error.instance_path());
        match error.kind() {
            Kind::OneOfNotValid { context } | Kind::AnyOf { context }
                if self.add_alternatives(error, context, tag, violations) => {}
            Kind::AdditionalProperties { unexpected } => {
                let known = self.parent_of(error).and_then(|schema| schema.get("properties"));
                let known: Vec<&String> = known
                    .and_then(Value::as_object)
                    .into_iter()
                    .flat_map(Map::keys)
                    .collect();
                violations.extend(unexpected.iter().map(|name| {
                    let message = unknown_member_message(name, &known);
                    let name = clip(name, NAME_BYTES);
                    SchemaViolation::new(format!("{path}.{name}"), format!("{tag}{message}"))
                }));
            }
            // The pattern could not be checked in reasonable time.
            Kind::BacktrackLimitExceeded { .. } => {
                tracing::warn!(
                    path,
                    "a pattern of a schema takes too long to check and is not enforced"
                );
            }
            kind => {
                let message = match kind {
                    // The crate lists three of them.
                    Kind::Enum { options } => {
                        not_one_of(error.instance(), options.as_array().map_or(&[], Vec::as_slice))
                    }
                    _ => error.to_string(),
                };
                violations.push(SchemaViolation::new(
                    path,
                    format!("{tag}{}", clip(&message, MESSAGE_BYTES)),
                ));
            }
        }
    }

    /// Adds the violations of a value that matches none of several alternatives. Returns whether they are known.
    fn add_alternatives(
        &self,
        error: &ValidationError<'_>,
        errors: &[Vec<ValidationError<'static>>],
        tag: &str,
        violations: &mut Vec<SchemaViolation>,
    ) -> bool {
        let list = self.schema.pointer(error.schema_path().as_str());
        let Some(alternatives) = list.and_then(|list| Alternatives::new(&self.schema, list)) else {
            return false;
        };
        match alternatives.choose(error.instance()) {
            Choice::None(member, message) => {
                let mut path = json_path(error.instance_path());
                if let Some(name) = member {
                    path.push('.');
                    path.push_str(&name);
                }
                violations.push(SchemaViolation::new(path, format!("{tag}{message}")));
                true
            }
            Choice::Branch(index, inner) => {
                let Some(errors) = errors.get(index).filter(|errors| !errors.is_empty()) else {
                    return false;
                };
                let tag = format!("{tag}{inner}");
                for error in errors {
                    self.add(error, &tag, violations);
                }
                true
            }
        }
    }

    /// Returns the schema that contains the keyword of an error.
    fn parent_of(&self, error: &ValidationError<'_>) -> Option<&Value> {
        let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
        self.schema.pointer(parent)
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
