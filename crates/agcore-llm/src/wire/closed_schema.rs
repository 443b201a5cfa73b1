//! The strict mode of OpenAI: closed objects at every depth, every property required.
//!
//! After "Supported schemas" of its guide to structured outputs.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::schema_fault::SchemaFault;

/// Keywords that strict mode refuses.
const REFUSED: &[&str] = &[
    "allOf",
    "not",
    "oneOf",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
];

/// The schema with every object closed; borrowed when it is so already.
pub(crate) fn adapt(schema: &Value) -> Result<Cow<'_, Value>, SchemaFault> {
    let mut closed = schema.clone();
    let is_changed = close(&mut closed)?;
    Ok(if is_changed {
        Cow::Owned(closed)
    } else {
        Cow::Borrowed(schema)
    })
}

fn close(schema: &mut Value) -> Result<bool, SchemaFault> {
    let Value::Object(members) = schema else {
        return Ok(false);
    };
    if let Some(keyword) = REFUSED.iter().find(|keyword| members.contains_key(**keyword)) {
        let why = format!("strict mode has no `{keyword}`: write the schema without it, or set `strict` to false");
        return Err(SchemaFault::new(why));
    }
    let mut is_changed = close_object(members)?;
    for name in ["properties", "$defs", "definitions"] {
        if let Some(Value::Object(schemas)) = members.get_mut(name) {
            for (key, schema) in schemas {
                is_changed |= close(schema).map_err(|fault| fault.below(key).below(name))?;
            }
        }
    }
    if let Some(items) = members.get_mut("items") {
        is_changed |= close(items).map_err(|fault| fault.below("items"))?;
    }
    if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
        for (at, schema) in choices.iter_mut().enumerate() {
            is_changed |= close(schema).map_err(|fault| fault.below(&at.to_string()).below("anyOf"))?;
        }
    }
    Ok(is_changed)
}

fn close_object(members: &mut Map<String, Value>) -> Result<bool, SchemaFault> {
    let is_object = members.contains_key("properties") || says_object(members.get("type"));
    if !is_object {
        return Ok(false);
    }
    let required: Vec<&str> = members
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = members.get("properties").and_then(Value::as_object);
    let optional = properties
        .into_iter()
        .flat_map(Map::keys)
        .find(|name| !required.contains(&name.as_str()));
    if let Some(name) = optional {
        let why = format!(
            "the property `{name}` is optional: strict mode wants every property required; make it required and \
             nullable, or set `strict` to false"
        );
        return Err(SchemaFault::new(why));
    }
    match members.get("additionalProperties") {
        Some(Value::Bool(false)) => Ok(false),
        None => {
            members.insert("additionalProperties".into(), Value::Bool(false));
            Ok(true)
        }
        Some(_) => {
            let why = "the object takes members of any name: strict mode wants closed objects; list the properties, or \
                       set `strict` to false";
            Err(SchemaFault::new(why))
        }
    }
}

fn says_object(kind: Option<&Value>) -> bool {
    match kind {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn closes_objects_at_every_depth() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {}}}},
            "required": ["a"],
            "$defs": {"d": {"anyOf": [{"type": ["object", "null"]}, {"type": "string"}]}},
        });
        let expected = json!({
            "type": "object",
            "properties": {"a": {"type": "array", "items":
                {"type": "object", "properties": {}, "additionalProperties": false}}},
            "required": ["a"],
            "$defs": {"d": {"anyOf": [{"type": ["object", "null"], "additionalProperties": false}, {"type": "string"}]}},
            "additionalProperties": false,
        });
        assert_eq!(*adapt(&schema).unwrap(), expected);
        assert!(matches!(adapt(&expected).unwrap(), Cow::Borrowed(_)));
    }

    #[test]
    fn names_the_place_of_what_cannot_be_closed() {
        let check = |schema: Value, expected: &str| {
            let told = adapt(&schema).unwrap_err().to_string();
            assert!(told.contains(expected), "{told}");
        };
        let object = |inner: Value| json!({"type": "object", "properties": {"a": inner}, "required": ["a"]});
        check(
            json!({"type": "object", "properties": {"a": {}}}),
            "at $, the property `a` is optional",
        );
        check(
            object(json!({"type": "object", "additionalProperties": {"type": "string"}})),
            "at $.properties.a, the object takes",
        );
        check(
            object(json!({"allOf": []})),
            "at $.properties.a, strict mode has no `allOf`",
        );
        check(
            object(json!({"anyOf": [{"not": {}}]})),
            "at $.properties.a.anyOf.0, strict",
        );
    }
}
