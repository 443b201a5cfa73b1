//! JSON Schema validation: [`SchemaValidator`], and the compiled schemas of registered tools.
//!
//! With the feature `schema`, the crate jsonschema validates. Without it, a small validator does: it understands the usual
//! keywords and refuses schemas with others.

mod alternatives;
#[cfg(any(test, not(feature = "schema")))]
mod basic;
mod constants;
#[cfg(feature = "schema")]
mod full;
mod unknown;
mod validator;

#[cfg(not(feature = "schema"))]
use self::basic::Validator;
#[cfg(feature = "schema")]
use self::full::Validator;
pub(crate) use self::unknown::unknown_member_message;
pub use self::validator::SchemaValidator;

use agcore_chat::SchemaViolation;
use serde_json::Value;

use crate::{
    error::{ToolError, ToolErrorKind},
    tool::BaseTool,
};

/// A schema compiled once to check many values.
#[derive(Debug)]
pub(crate) struct CompiledSchema(Validator);

impl CompiledSchema {
    /// Compiles the schema of a tool's arguments, which must describe an object. Returns `None` if the tool validates them well
    /// enough for this build.
    pub(crate) fn of_tool(tool: &dyn BaseTool) -> Result<Option<Self>, ToolError> {
        let schema = tool.parameters();
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "object" => {}
            _ => {
                return Err(invalid_schema(
                    "the schema of the arguments must be an object with \"type\": \"object\"",
                ));
            }
        }
        if !cfg!(feature = "schema") && tool.validates_arguments() {
            return Ok(None);
        }
        Self::new(schema).map(Some)
    }

    /// Compiles a schema.
    pub(crate) fn new(schema: &Value) -> Result<Self, ToolError> {
        Validator::new(schema)
            .map(Self)
            .map_err(|reason| invalid_schema(&reason))
    }

    /// Checks a value and returns all violations.
    pub(crate) fn check(&self, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        self.0.check(value)
    }
}

/// Explains why arguments could not be deserialized: what the schema has against them, or else `found`.
pub(crate) fn explain_mismatch(schema: &Value, value: &Value, found: SchemaViolation) -> Vec<SchemaViolation> {
    let checked = Validator::new(schema).map(|validator| validator.check(value));
    checked.ok().and_then(Result::err).unwrap_or_else(|| vec![found])
}

fn invalid_schema(reason: &str) -> ToolError {
    ToolError::new(ToolErrorKind::Config, format!("invalid JSON Schema: {reason}"))
}
