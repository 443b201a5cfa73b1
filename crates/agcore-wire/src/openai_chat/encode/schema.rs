//! Schemas of tools and response formats, adapted to a vendor without loss, or refused with the path of the problem.

mod gemini;

use std::borrow::Cow;

use agcore_chat::{JsonSchemaFormat, ToolDefinition, schema};
use serde_json::Value;

use crate::{
    dialect::{Dialect, SchemaRule, StrictRule},
    encode::refusal::Refusal,
};

/// The name of strict mode in refusals.
const STRICT: &str = "strict";

/// Returns the schema for the arguments of a tool.
pub(super) fn adapt_tool<'a>(dialect: &Dialect, tool: &'a ToolDefinition) -> Result<Option<Cow<'a, Value>>, String> {
    let Some(schema) = &tool.parameters else {
        return Ok(None);
    };
    // Gemini rejects an empty schema for a function without arguments.
    if dialect.tools.schema == SchemaRule::Gemini && has_no_properties(schema) {
        return Ok(None);
    }
    let what = || format!("the parameters of the tool `{}`", tool.name);
    adapt(dialect, schema, tool.strict == Some(true), "tools", &what).map(Some)
}

/// Returns a response format whose schema is adapted.
pub(super) fn adapt_format<'a>(
    dialect: &Dialect,
    format: &'a JsonSchemaFormat,
) -> Result<Cow<'a, JsonSchemaFormat>, String> {
    let Some(schema) = &format.schema else {
        return Ok(Cow::Borrowed(format));
    };
    let what = || format!("the schema of the response format `{}`", format.name);
    let is_strict = format.strict == Some(true);
    match adapt(dialect, schema, is_strict, "response_format", &what)? {
        Cow::Borrowed(_) => Ok(Cow::Borrowed(format)),
        Cow::Owned(schema) => Ok(Cow::Owned(JsonSchemaFormat {
            schema: Some(schema),
            ..format.clone()
        })),
    }
}

/// Returns the value of `strict` to write for a tool.
pub(super) fn strict(dialect: &Dialect, strict: Option<bool>, tool: &str) -> Result<Option<bool>, String> {
    match (dialect.tools.strict, strict) {
        (StrictRule::Refused, Some(true)) => {
            let what = format!("`strict` (tool `{tool}`)");
            let advice = "leave it out, arguments are checked before the tool runs";
            Err(refusal(dialect, STRICT, &what, advice))
        }
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

fn adapt<'a>(
    dialect: &Dialect,
    schema: &'a Value,
    is_strict: bool,
    parameter: &str,
    what: &dyn Fn() -> String,
) -> Result<Cow<'a, Value>, String> {
    let (result, parameter) = match (dialect.tools.schema, dialect.tools.strict) {
        (SchemaRule::Gemini, _) => (gemini::adapt(schema), parameter),
        (SchemaRule::Any, StrictRule::Closed) if is_strict => (schema::closed(schema), STRICT),
        _ => return Ok(Cow::Borrowed(schema)),
    };
    result.map_err(|error| refusal(dialect, parameter, &what(), &error.to_string()))
}

fn refusal(dialect: &Dialect, name: &str, what: &str, advice: &str) -> String {
    let message = &format!("{} does not support {what}: {advice}", dialect.name);
    let nearest = "";
    Refusal { name, nearest, message }.to_string()
}
