//! Schemas of tools and answers, adapted to what a vendor takes: without loss, or with an error that names the place.

mod gemini;

use std::borrow::Cow;

use agcore_chat::{JsonSchemaFormat, ToolDefinition};
use serde_json::Value;

use crate::{
    dialect::{Dialect, SchemaRule, StrictRule},
    wire::closed_schema,
};

/// The schema of a tool's arguments.
pub(super) fn of_tool<'a>(dialect: &Dialect, tool: &'a ToolDefinition) -> Result<Option<Cow<'a, Value>>, String> {
    let Some(schema) = &tool.parameters else {
        return Ok(None);
    };
    // Gemini wants no schema at all for a function without arguments.
    if dialect.tools.schema == SchemaRule::Gemini && has_no_properties(schema) {
        return Ok(None);
    }
    let what = || format!("the parameters of the tool `{}`", tool.name);
    adapted(dialect, schema, tool.strict == Some(true), &what).map(Some)
}

/// A form of the answer.
pub(super) fn of_format<'a>(
    dialect: &Dialect,
    format: &'a JsonSchemaFormat,
) -> Result<Cow<'a, JsonSchemaFormat>, String> {
    let Some(schema) = &format.schema else {
        return Ok(Cow::Borrowed(format));
    };
    let what = || format!("the schema of the answer's form `{}`", format.name);
    let is_strict = format.strict == Some(true);
    match adapted(dialect, schema, is_strict, &what)? {
        Cow::Borrowed(_) => Ok(Cow::Borrowed(format)),
        Cow::Owned(schema) => Ok(Cow::Owned(JsonSchemaFormat {
            schema: Some(schema),
            ..format.clone()
        })),
    }
}

/// Whether `strict` is written for a tool.
pub(super) fn strict(dialect: &Dialect, strict: Option<bool>, tool: &str) -> Result<Option<bool>, String> {
    match (dialect.tools.strict, strict) {
        (StrictRule::Refused, Some(true)) => Err(format!(
            "{} does not take `strict` (tool `{tool}`): leave it out, arguments are checked before the tool runs",
            dialect.name
        )),
        (StrictRule::Refused, _) => Ok(None),
        (_, strict) => Ok(strict),
    }
}

fn has_no_properties(schema: &Value) -> bool {
    let is_empty = |properties: &Value| properties.as_object().is_some_and(serde_json::Map::is_empty);
    schema.as_object().is_some_and(serde_json::Map::is_empty)
        || (schema.get("type").and_then(Value::as_str) == Some("object")
            && schema.get("properties").is_none_or(is_empty))
}

fn adapted<'a>(
    dialect: &Dialect,
    schema: &'a Value,
    is_strict: bool,
    what: &dyn Fn() -> String,
) -> Result<Cow<'a, Value>, String> {
    let result = match (dialect.tools.schema, dialect.tools.strict) {
        (SchemaRule::Gemini, _) => gemini::adapt(schema),
        (SchemaRule::Any, StrictRule::Closed) if is_strict => closed_schema::adapt(schema),
        _ => return Ok(Cow::Borrowed(schema)),
    };
    result.map_err(|fault| format!("{} does not take {}: {fault}", dialect.name, what()))
}
