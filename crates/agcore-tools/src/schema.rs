//! Whether values match JSON Schemas: [`SchemaValidator`], and the check that a registered tool carries.
//!
//! Both need the feature `schema`. Without it the arguments of a [typed](crate::typed()) tool are checked by reading them
//! into its type, and those of any other tool only by the tool itself.

#[cfg(feature = "schema")]
mod full;

#[cfg(feature = "schema")]
pub use self::full::SchemaValidator;

use agcore_chat::SchemaViolation;
use serde_json::Value;

use crate::{
    arguments::Arguments,
    error::{ToolError, ToolErrorKind},
};

/// A schema made ready once, for many values.
#[derive(Debug)]
pub(crate) struct Check {
    #[cfg(feature = "schema")]
    validator: full::Compiled,
}

impl Check {
    /// Makes a schema ready. Whether it is fit for a tool's arguments is checked in any build.
    pub(crate) fn of_arguments(schema: &Value) -> Result<Self, ToolError> {
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "object" => Self::new(schema),
            _ => Err(unfit(
                "the schema of the arguments must be an object with \"type\": \"object\"",
            )),
        }
    }

    /// Makes a schema ready.
    #[cfg(feature = "schema")]
    pub(crate) fn new(schema: &Value) -> Result<Self, ToolError> {
        full::Compiled::new(schema)
            .map(|validator| Self { validator })
            .map_err(|why| unfit(&why))
    }

    /// All violations of a call's arguments.
    #[cfg(feature = "schema")]
    pub(crate) fn check_arguments(&self, arguments: &Arguments) -> Result<(), Vec<SchemaViolation>> {
        self.check(arguments.as_value())
    }

    /// All violations of a value.
    #[cfg(feature = "schema")]
    pub(crate) fn check(&self, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        self.validator.check(value)
    }

    /// Takes any schema.
    #[cfg(not(feature = "schema"))]
    pub(crate) fn new(_: &Value) -> Result<Self, ToolError> {
        Ok(Self {})
    }

    /// Takes any arguments, and does not even look at them: there is no validator in this build.
    #[cfg(not(feature = "schema"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "the same face as with the feature `schema`"
    )]
    pub(crate) fn check_arguments(&self, _: &Arguments) -> Result<(), Vec<SchemaViolation>> {
        Ok(())
    }

    /// Takes any value: there is no validator in this build.
    #[cfg(not(feature = "schema"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "the same face as with the feature `schema`"
    )]
    pub(crate) fn check(&self, _: &Value) -> Result<(), Vec<SchemaViolation>> {
        Ok(())
    }
}

fn unfit(why: &str) -> ToolError {
    ToolError::new(ToolErrorKind::Config, format!("the JSON Schema cannot be used: {why}"))
}
