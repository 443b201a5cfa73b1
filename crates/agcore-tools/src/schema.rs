//! JSON Schema validation: [`SchemaValidator`], and the compiled schemas of registered tools.
//!
//! Both need the feature `schema`. Without it, the arguments of a [typed](crate::typed()) tool are checked by
//! deserializing them into its type, and those of any other tool are checked only by the tool itself.

mod outline;
mod alternatives;
#[cfg(feature = "schema")]
mod full;

#[cfg(feature = "schema")]
pub use self::full::SchemaValidator;
pub(crate) use self::outline::{explain_mismatch, unknown_member_message};

use agcore_chat::SchemaViolation;
use serde_json::Value;

use crate::{
    arguments::Arguments,
    error::{ToolError, ToolErrorKind},
};

/// A schema compiled once to check many values; without the feature `schema`, it accepts any value.
#[derive(Debug)]
pub(crate) struct CompiledSchema {
    #[cfg(feature = "schema")]
    validator: full::Validator,
}

impl CompiledSchema {
    /// Compiles the schema of a tool's arguments. In any build, this checks that the schema describes an object.
    pub(crate) fn for_arguments(schema: &Value) -> Result<Self, ToolError> {
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "object" => Self::new(schema),
            _ => Err(invalid_schema(
                "the schema of the arguments must be an object with \"type\": \"object\"",
            )),
        }
    }

    /// Compiles a schema.
    #[cfg(feature = "schema")]
    pub(crate) fn new(schema: &Value) -> Result<Self, ToolError> {
        full::Validator::new(schema)
            .map(|validator| Self { validator })
            .map_err(|reason| invalid_schema(&reason))
    }

    /// Checks the arguments of a call and returns all violations.
    #[cfg(feature = "schema")]
    pub(crate) fn check_arguments(&self, arguments: &Arguments) -> Result<(), Vec<SchemaViolation>> {
        self.check(arguments.as_value())
    }

    /// Checks a value and returns all violations.
    #[cfg(feature = "schema")]
    pub(crate) fn check(&self, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        self.validator.check(value)
    }

    /// Accepts any schema: this build has no validator.
    #[cfg(not(feature = "schema"))]
    pub(crate) fn new(_: &Value) -> Result<Self, ToolError> {
        Ok(Self {})
    }

    /// Accepts any arguments without even parsing them: this build has no validator.
    #[cfg(not(feature = "schema"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "same signature as with the feature `schema`"
    )]
    pub(crate) fn check_arguments(&self, _: &Arguments) -> Result<(), Vec<SchemaViolation>> {
        Ok(())
    }

    /// Accepts any value: this build has no validator.
    #[cfg(not(feature = "schema"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "same signature as with the feature `schema`"
    )]
    pub(crate) fn check(&self, _: &Value) -> Result<(), Vec<SchemaViolation>> {
        Ok(())
    }
}

fn invalid_schema(reason: &str) -> ToolError {
    ToolError::new(ToolErrorKind::Config, format!("invalid JSON Schema: {reason}"))
}
