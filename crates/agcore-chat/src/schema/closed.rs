//! OpenAI's strict mode: closed objects at every depth, every property required.
//!
//! After "Supported schemas" of its guide to structured outputs.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::SchemaError;

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

/// Returns the schema with `"additionalProperties": false` on every object, as OpenAI's strict mode requires; borrowed
/// if nothing had to be added.
///
/// ```
/// use agcore_chat::schema::closed;
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
/// assert_eq!(closed(&schema)?["additionalProperties"], false);
///
/// let optional = json!({"type": "object", "properties": {"city": {"type": "string"}}});
/// assert!(closed(&optional).is_err());
/// # Ok::<(), agcore_chat::schema::SchemaError>(())
/// ```
///
/// # Errors
/// If the schema uses a keyword that strict mode refuses, has an optional property, or has an object with members of
/// any name. The error states the location and the remedy.
pub fn closed(schema: &Value) -> Result<Cow<'_, Value>, SchemaError> {
    let mut closed = schema.clone();
    let is_changed = close(&mut closed, true)?;
    Ok(if is_changed {
        Cow::Owned(closed)
    } else {
        Cow::Borrowed(schema)
    })
}

/// Closes a schema and those below it; returns whether that changed anything.
fn close(schema: &mut Value, is_root: bool) -> Result<bool, SchemaError> {
    let Value::Object(members) = schema else {
        return Ok(false);
    };
    if let Some(keyword) = REFUSED.iter().find(|keyword| members.contains_key(**keyword)) {
        let reason =
            format!("strict mode does not support `{keyword}`: write the schema without it, or set `strict` to false");
        return Err(SchemaError::new(reason));
    }
    let mut is_changed = close_object(members, is_root)?;
    for name in ["properties", "$defs", "definitions"] {
        if let Some(Value::Object(schemas)) = members.get_mut(name) {
            for (key, schema) in schemas {
                is_changed |= close(schema, false).map_err(|error| error.within(key).within(name))?;
            }
        }
    }
    if let Some(items) = members.get_mut("items") {
        is_changed |= close(items, false).map_err(|error| error.within("items"))?;
    }
    if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
        for (index, schema) in choices.iter_mut().enumerate() {
            is_changed |= close(schema, false).map_err(|error| error.within(index.to_string()).within("anyOf"))?;
        }
    }
    Ok(is_changed)
}

fn close_object(members: &mut Map<String, Value>, is_root: bool) -> Result<bool, SchemaError> {
    let is_map = !is_root && members.get("type").is_some_and(Value::is_array) && !members.contains_key("properties");
    if !members.contains_key("properties") && !allows_object(members.get("type")) {
        return Ok(false);
    }
    if let Some(name) = optional_property(members) {
        let reason = format!(
            "the property `{name}` is optional, but strict mode requires every property: make it required and nullable, \
             or set `strict` to false"
        );
        return Err(SchemaError::new(reason));
    }
    match members.get("additionalProperties") {
        Some(Value::Bool(false)) => Ok(false),
        // The one open object that OpenAI takes (`"type": ["object", "null"]`), judging by its replies.
        Some(Value::Object(_)) if is_map => {
            let values = members.get_mut("additionalProperties");
            values
                .map_or(Ok(false), |values| close(values, false))
                .map_err(|error| error.within("additionalProperties"))
        }
        None => {
            members.insert("additionalProperties".into(), Value::Bool(false));
            Ok(true)
        }
        Some(_) => {
            let reason = "the object accepts members of any name, but strict mode requires closed objects: list the \
                          properties, or set `strict` to false";
            Err(SchemaError::new(reason))
        }
    }
}

/// Returns the first property of an object schema that is not required.
fn optional_property(members: &Map<String, Value>) -> Option<&String> {
    let required: Vec<&str> = members
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = members.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flat_map(Map::keys)
        .find(|name| !required.contains(&name.as_str()))
}

/// Returns whether a `type` keyword allows objects.
fn allows_object(kind: Option<&Value>) -> bool {
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
    fn a_nullable_map_below_the_root_stays_open() {
        let nullable = json!({"type": ["object", "null"], "additionalProperties": {"type": "string"}});
        let within = |schema: &Value| json!({"type": "object", "properties": {"x": schema}, "required": ["x"], "additionalProperties": false});
        assert_eq!(*closed(&within(&nullable)).unwrap(), within(&nullable));
        let of_objects = json!({"type": ["null", "object"], "additionalProperties":
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}});
        let schema = within(&of_objects);
        let closed_values = closed(&schema).unwrap();
        let values = &closed_values["properties"]["x"]["additionalProperties"];
        assert_eq!(values["additionalProperties"], false);
        let plain = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let any = json!({"type": ["object", "null"], "additionalProperties": true});
        for open in [within(&plain), within(&any), nullable] {
            assert!(closed(&open).is_err(), "{open}");
        }
    }

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
        assert_eq!(*closed(&schema).unwrap(), expected);
        assert!(matches!(closed(&expected).unwrap(), Cow::Borrowed(_)));
    }

    #[test]
    fn reports_the_location_of_what_cannot_be_closed() {
        let check = |schema: Value, expected: &str| {
            let message = closed(&schema).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{message}");
        };
        let object = |inner: Value| json!({"type": "object", "properties": {"a": inner}, "required": ["a"]});
        check(
            json!({"type": "object", "properties": {"a": {}}}),
            "at $, the property `a` is optional",
        );
        check(
            object(json!({"type": "object", "additionalProperties": {"type": "string"}})),
            "at $.properties.a, the object accepts",
        );
        check(
            object(json!({"allOf": []})),
            "at $.properties.a, strict mode does not support `allOf`",
        );
        check(
            object(json!({"anyOf": [{"not": {}}]})),
            "at $.properties.a.anyOf.0, strict mode does not support `not`",
        );
    }
}
