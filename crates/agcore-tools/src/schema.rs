//! JSON Schema validation: the compiled schemas of registered tools, and [`SchemaValidator`].
//!
//! The small validator checks the arguments and outputs of tools in every build. The full one, the crate jsonschema behind the
//! feature `schema`, checks only where it is asked for, so that a feature that another crate enables changes nothing.

mod alternatives;
mod basic;
mod constants;
#[cfg(feature = "schema")]
mod full;
mod unknown;
#[cfg(feature = "schema")]
mod validator;

pub(crate) use self::unknown::unknown_member_message;
#[cfg(feature = "schema")]
pub use self::validator::SchemaValidator;

use agcore_chat::SchemaViolation;
use serde_json::Value;

use crate::{
    error::{ToolError, ToolErrorKind},
    tool::BaseTool,
};

/// The validator of a tool's schemas.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Validation {
    /// The keywords that Rust types produce and people usually write.
    #[default]
    Usual,
    /// All keywords of all drafts.
    #[cfg(feature = "schema")]
    Full,
}

/// A schema compiled once to check many values.
#[derive(Debug)]
pub(crate) enum CompiledSchema {
    Usual(basic::Validator),
    #[cfg(feature = "schema")]
    Full(Box<full::Validator>),
}

impl CompiledSchema {
    /// Compiles the schema of a tool's arguments, which must describe an object. Returns `None` if the tool validates them
    /// itself.
    pub(crate) fn of_tool(tool: &dyn BaseTool, validation: Validation) -> Result<Option<Self>, ToolError> {
        let schema = tool.parameters();
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "object" => {}
            _ => {
                return Err(invalid_schema(
                    "the schema of the arguments must be an object with \"type\": \"object\"",
                ));
            }
        }
        if validation == Validation::Usual && tool.validates_arguments() {
            return Ok(None);
        }
        Self::new(schema, validation).map(Some)
    }

    /// Compiles a schema.
    pub(crate) fn new(schema: &Value, validation: Validation) -> Result<Self, ToolError> {
        let compiled = match validation {
            Validation::Usual => basic::Validator::new(schema).map(Self::Usual),
            #[cfg(feature = "schema")]
            Validation::Full => full::Validator::new(schema).map(|validator| Self::Full(Box::new(validator))),
        };
        compiled.map_err(|reason| invalid_schema(&reason))
    }

    /// Returns the places of keywords that are not enforced.
    pub(crate) fn not_enforced(&self) -> &[String] {
        match self {
            Self::Usual(validator) => validator.not_enforced(),
            #[cfg(feature = "schema")]
            Self::Full(_) => &[],
        }
    }

    /// Checks a value and returns all violations.
    pub(crate) fn check(&self, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        match self {
            Self::Usual(validator) => validator.check(value),
            #[cfg(feature = "schema")]
            Self::Full(validator) => validator.check(value),
        }
    }
}

/// Explains why arguments could not be deserialized: what the schema has against them, or else `found`.
pub(crate) fn explain_mismatch(schema: &Value, value: &Value, found: SchemaViolation) -> Vec<SchemaViolation> {
    let checked = basic::Validator::new(schema).map(|validator| validator.check(value));
    checked.ok().and_then(Result::err).unwrap_or_else(|| vec![found])
}

fn invalid_schema(reason: &str) -> ToolError {
    ToolError::new(ToolErrorKind::Config, format!("invalid JSON Schema: {reason}"))
}
