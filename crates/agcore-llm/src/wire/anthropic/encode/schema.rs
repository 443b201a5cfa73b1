//! Schemas of tools and answers in the form that the API takes: without loss, or with an error that names the place.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::wire::schema_fault::SchemaFault;

/// Keywords that have no place at the top of a tool's schema.
const NOT_AT_TOP: &[&str] = &["anyOf", "oneOf", "allOf"];

/// Keywords that only narrow and that strict mode does not know (the vendor's page on structured outputs); the model is
/// told them in the description.
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

/// Keywords that give shape and that strict mode does not know.
const REFUSED: &[&str] = &[
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

/// The schema of a tool's arguments: always that of an object.
pub(super) fn of_tool<'a>(schema: Option<&'a Value>, tool: &str) -> Result<Cow<'a, Value>, String> {
    let refuse = |why: &str| {
        Err(format!(
            "the API does not take the parameters of the tool `{tool}`: {why}"
        ))
    };
    let members = match schema {
        None => return Ok(Cow::Owned(json!({"type": "object", "properties": {}}))),
        Some(Value::Object(members)) => members,
        Some(_) => return refuse("they must be a schema of an object"),
    };
    if let Some(keyword) = NOT_AT_TOP.iter().find(|keyword| members.contains_key(**keyword)) {
        return refuse(&format!("`{keyword}` cannot stand at the top; put it into a property"));
    }
    match members.get("type") {
        Some(kind) if kind == "object" => Ok(schema.map_or_else(|| Cow::Owned(json!({})), Cow::Borrowed)),
        Some(_) => refuse("they must be a schema of an object"),
        None => {
            let mut typed = Map::from_iter([("type".to_owned(), Value::from("object"))]);
            typed.extend(members.iter().map(|(name, value)| (name.clone(), value.clone())));
            Ok(Cow::Owned(Value::Object(typed)))
        }
    }
}

/// The schema as strict mode takes it: every object closed, limits told in words.
pub(super) fn closed(schema: &Value) -> Result<Value, String> {
    let mut closed = schema.clone();
    close(&mut closed).map_err(|fault| fault.to_string())?;
    Ok(closed)
}

fn close(schema: &mut Value) -> Result<(), SchemaFault> {
    let Value::Object(members) = schema else {
        return Ok(());
    };
    if let Some(keyword) = REFUSED.iter().find(|keyword| members.contains_key(**keyword)) {
        return Err(SchemaFault::new(format!(
            "strict mode has no `{keyword}`: write the schema without it"
        )));
    }
    close_object(members)?;
    tell_limits(members);
    if let Some(choices) = members.shift_remove("oneOf") {
        members.entry("anyOf").or_insert(choices);
    }
    for (name, inner) in members.iter_mut() {
        match (name.as_str(), inner) {
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
                for (key, schema) in schemas {
                    close(schema).map_err(|fault| fault.below(key).below(name))?;
                }
            }
            ("anyOf" | "allOf", Value::Array(schemas)) => {
                for (at, schema) in schemas.iter_mut().enumerate() {
                    close(schema).map_err(|fault| fault.below(&at.to_string()).below(name))?;
                }
            }
            ("items", schema) => close(schema).map_err(|fault| fault.below(name))?,
            _ => {}
        }
    }
    Ok(())
}

fn close_object(members: &mut Map<String, Value>) -> Result<(), SchemaFault> {
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
            return Err(SchemaFault::new(
                "the object takes members of any name: strict mode wants closed objects; list the properties",
            ));
        }
    }
    Ok(())
}

/// Moves limits that strict mode does not know into the description.
fn tell_limits(members: &mut Map<String, Value>) {
    let mut limits = Vec::new();
    for name in NARROWING {
        // A property may have such a name; a limit is no schema.
        if let Some(limit) = members.shift_remove(*name) {
            limits.push(format!("{name}: {limit}"));
        }
    }
    // The only lengths of arrays that strict mode knows are none and at least one.
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
    let told = match members.get("description").and_then(Value::as_str) {
        Some(description) if !description.is_empty() => format!("{description} ({limits})"),
        _ => limits,
    };
    members.insert("description".into(), told.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_take_objects() {
        let check = |schema: Value, expected: Value| assert_eq!(*of_tool(Some(&schema), "f").unwrap(), expected);
        check(json!({}), json!({"type": "object"}));
        check(json!({"properties": {}}), json!({"type": "object", "properties": {}}));
        let given = json!({"type": "object", "additionalProperties": true});
        assert!(matches!(of_tool(Some(&given), "f").unwrap(), Cow::Borrowed(_)));
        assert_eq!(
            *of_tool(None, "f").unwrap(),
            json!({"type": "object", "properties": {}})
        );
        for (schema, expected) in [
            (json!({"type": "string"}), "a schema of an object"),
            (json!(true), "a schema of an object"),
            (
                json!({"type": "object", "oneOf": []}),
                "`oneOf` cannot stand at the top",
            ),
        ] {
            let told = of_tool(Some(&schema), "f").unwrap_err();
            assert!(told.contains(expected), "{told}");
        }
    }

    #[test]
    fn strict_mode_closes_and_tells() {
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
    fn strict_mode_names_the_place() {
        let check = |schema: Value, expected: &str| {
            let told = closed(&schema).unwrap_err();
            assert!(told.contains(expected), "{told}");
        };
        check(
            json!({"properties": {"a": {"type": "object", "additionalProperties": {}}}}),
            "at $.properties.a, the object takes",
        );
        check(
            json!({"anyOf": [{"not": {}}]}),
            "at $.anyOf.0, strict mode has no `not`",
        );
    }
}
