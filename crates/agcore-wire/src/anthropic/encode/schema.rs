//! JSON schemas of tools and response formats in the form that the API accepts. A schema is converted without loss, or
//! rejected with an error that names the place.

use std::borrow::Cow;

use agcore_chat::{JsonSchemaFormat, ResponseFormat};
use serde_json::{Map, Value, json};

use crate::{anthropic::vendor::unsupported_parameter, encode::closed_schema::closed};

/// Keywords that are not allowed at the top level of a tool's schema.
const NOT_AT_TOP: &[&str] = &["anyOf", "oneOf", "allOf"];

/// Returns the schema of a tool's arguments, which is always that of an object.
pub(super) fn tool_parameters<'a>(schema: Option<&'a Value>, tool: &str) -> Result<Cow<'a, Value>, String> {
    let reject = |why: &str| {
        Err(unsupported_parameter(
            "tools",
            &format!("the parameters of the tool `{tool}`"),
            why,
        ))
    };
    let members = match schema {
        None => return Ok(Cow::Owned(json!({"type": "object", "properties": {}}))),
        Some(Value::Object(members)) => members,
        Some(_) => return reject("use the schema of an object"),
    };
    if let Some(keyword) = NOT_AT_TOP.iter().find(|keyword| members.contains_key(**keyword)) {
        return reject(&format!(
            "`{keyword}` is not allowed at the top level, move it into a property"
        ));
    }
    match members.get("type") {
        Some(kind) if kind == "object" => Ok(schema.map_or_else(|| Cow::Owned(json!({})), Cow::Borrowed)),
        Some(_) => reject("use the schema of an object"),
        None => {
            let mut typed = Map::from_iter([("type".to_owned(), Value::from("object"))]);
            typed.extend(members.iter().map(|(name, value)| (name.clone(), value.clone())));
            Ok(Cow::Owned(Value::Object(typed)))
        }
    }
}

/// Returns the member `format` of `output_config`, or `None` for plain text.
pub(super) fn response_format(format: &ResponseFormat) -> Result<Option<Value>, String> {
    match format {
        ResponseFormat::Text => Ok(None),
        ResponseFormat::JsonSchema(format) => json_schema(format).map(Some),
        ResponseFormat::Other(raw @ Value::Object(_)) => Ok(Some(raw.clone())),
        _ => Err(unsupported_parameter(
            "response_format",
            "the response format `json_object`",
            "set a schema, or ask for JSON in the prompt",
        )),
    }
}

/// Converts a JSON schema format. The API has only a schema, which it always enforces: the name is left out, and the
/// description is moved into the schema.
fn json_schema(format: &JsonSchemaFormat) -> Result<Value, String> {
    let name = &format.name;
    let schema = format
        .schema
        .as_ref()
        .ok_or_else(|| format!("the response format `{name}` has no schema: set one"))?;
    let mut schema = closed(schema).map_err(|error| {
        unsupported_parameter(
            "response_format",
            &format!("the schema of the response format `{name}`"),
            &error,
        )
    })?;
    if let (Some(description), Value::Object(members)) = (&format.description, &mut schema) {
        members
            .entry("description")
            .or_insert_with(|| description.as_str().into());
    }
    Ok(json!({"type": "json_schema", "schema": schema}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_parameters_are_objects() {
        let check =
            |schema: Value, expected: Value| assert_eq!(*tool_parameters(Some(&schema), "f").unwrap(), expected);
        check(json!({}), json!({"type": "object"}));
        check(json!({"properties": {}}), json!({"type": "object", "properties": {}}));
        let given = json!({"type": "object", "additionalProperties": true});
        assert!(matches!(tool_parameters(Some(&given), "f").unwrap(), Cow::Borrowed(_)));
        assert_eq!(
            *tool_parameters(None, "f").unwrap(),
            json!({"type": "object", "properties": {}})
        );
        for (schema, expected) in [
            (json!({"type": "string"}), "the schema of an object"),
            (json!(true), "the schema of an object"),
            (
                json!({"type": "object", "oneOf": []}),
                "`oneOf` is not allowed at the top level",
            ),
        ] {
            let error = tool_parameters(Some(&schema), "f").unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
