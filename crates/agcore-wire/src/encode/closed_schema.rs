//! JSON schemas in the form in which Claude, and Bedrock for all models, can enforce them: every object is closed, and limits are
//! moved into the descriptions.

use agcore_chat::schema::SchemaError;
use serde_json::{Map, Value};

/// Keywords that only narrow a value and that strict mode does not support (the vendor's page on structured outputs). They
/// are moved into the description.
const NARROWING: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// Keywords that define the shape of a value and that strict mode does not support.
const REJECTED: &[&str] = &[
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "propertyNames",
    "prefixItems",
    "dependentSchemas",
    "dependentRequired",
];

/// Returns the schema in the form that strict mode requires: every object is closed, and limits are moved into the
/// descriptions.
pub(crate) fn closed(schema: &Value) -> Result<Value, String> {
    let mut closed = schema.clone();
    close(&mut closed).map_err(|error| error.to_string())?;
    Ok(closed)
}

fn close(schema: &mut Value) -> Result<(), SchemaError> {
    let Value::Object(members) = schema else {
        return Ok(());
    };
    if let Some(keyword) = REJECTED.iter().find(|keyword| members.contains_key(**keyword)) {
        return Err(SchemaError::new(format!(
            "strict mode does not support `{keyword}`: write the schema without it"
        )));
    }
    close_object(members)?;
    move_limits_to_description(members);
    if let Some(choices) = members.shift_remove("oneOf") {
        members.entry("anyOf").or_insert(choices);
    }
    for (name, inner) in members.iter_mut() {
        match (name.as_str(), inner) {
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
                for (key, schema) in schemas {
                    close(schema).map_err(|error| error.within(key).within(name))?;
                }
            }
            ("anyOf" | "allOf", Value::Array(schemas)) => {
                for (at, schema) in schemas.iter_mut().enumerate() {
                    close(schema).map_err(|error| error.within(at.to_string()).within(name))?;
                }
            }
            ("items", schema) => close(schema).map_err(|error| error.within(name))?,
            _ => {}
        }
    }
    Ok(())
}

fn close_object(members: &mut Map<String, Value>) -> Result<(), SchemaError> {
    let is_object = match members.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => members.contains_key("properties"),
    };
    match members.get("additionalProperties") {
        _ if !is_object => {}
        Some(Value::Bool(false)) => {}
        None => {
            members.insert("additionalProperties".into(), false.into());
        }
        Some(_) => {
            return Err(SchemaError::new(
                "the object accepts members of any name, but strict mode requires closed objects: list the properties",
            ));
        }
    }
    Ok(())
}

/// Moves limits that strict mode does not support into the description, where the model reads them.
fn move_limits_to_description(members: &mut Map<String, Value>) {
    let mut limits = Vec::new();
    for name in NARROWING {
        if let Some(limit) = members.shift_remove(*name) {
            limits.push(format!("{name}: {limit}"));
        }
    }
    // Strict mode supports `minItems` only with 0 and 1.
    if members
        .get("minItems")
        .and_then(Value::as_u64)
        .is_some_and(|least| least > 1)
        && let Some(least) = members.shift_remove("minItems")
    {
        limits.push(format!("minItems: {least}"));
    }
    if limits.is_empty() {
        return;
    }
    let limits = limits.join(", ");
    let description = match members.get("description").and_then(Value::as_str) {
        Some(description) if !description.is_empty() => format!("{description} ({limits})"),
        _ => limits,
    };
    members.insert("description".into(), description.into());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strict_mode_closes_objects_and_describes_limits() {
        let schema = json!({
            "type": "object",
            "properties": {
                "minimum": {"type": "integer", "minimum": 1, "description": "From one."},
                "list": {"type": "array", "minItems": 2, "items": {"properties": {}}},
                "either": {"oneOf": [{"type": ["object", "null"]}, {"type": "string", "maxLength": 3}]},
            },
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "minimum": {"type": "integer", "description": "From one. (minimum: 1)"},
                "list": {"type": "array", "items": {"properties": {}, "additionalProperties": false},
                         "description": "minItems: 2"},
                "either": {"anyOf": [{"type": ["object", "null"], "additionalProperties": false},
                                     {"type": "string", "description": "maxLength: 3"}]},
            },
            "additionalProperties": false,
        });
        assert_eq!(closed(&schema).unwrap(), expected);
        assert_eq!(closed(&expected).unwrap(), expected);
    }

    #[test]
    fn errors_name_the_place() {
        let check = |schema: Value, expected: &str| {
            let error = closed(&schema).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(
            json!({"properties": {"a": {"type": "object", "additionalProperties": {}}}}),
            "at $.properties.a, the object accepts",
        );
        check(
            json!({"anyOf": [{"not": {}}]}),
            "at $.anyOf.0, strict mode does not support `not`",
        );
    }
}
