//! Repairs of the JSON Schemas of tools.

use serde_json::{Map, Value, json};

/// The keywords whose values are objects of schemas.
const MAPS: &[&str] = &[
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// The keywords whose values are schemas.
const SCHEMAS: &[&str] = &[
    "additionalProperties",
    "items",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// The keywords whose values are lists of schemas that must not be empty.
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems"];

/// Repairs the mistakes of encoders in a schema: `[]` for an empty object, which PHP writes, `null` for a keyword that is not set,
/// `"false"` for `false`, and `required: true` of a property, which was valid in the draft 3.
pub(crate) fn repair(schema: &mut Value) {
    if schema.as_array().is_some_and(Vec::is_empty) {
        *schema = json!({});
        return;
    }
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    hoist_required(members);
    for name in MAPS {
        repair_map(members, name);
    }
    for name in SCHEMAS {
        match members.get_mut(*name) {
            Some(Value::Null) => drop(members.remove(*name)),
            Some(Value::String(text)) if text == "false" || text == "true" => {
                let value = text == "true";
                members.insert((*name).to_owned(), value.into());
            }
            Some(inner) => repair(inner),
            None => {}
        }
    }
    for name in LISTS {
        match members.get_mut(*name) {
            Some(Value::Array(list)) if !list.is_empty() => list.iter_mut().for_each(repair),
            Some(Value::Array(_) | Value::Null) => drop(members.remove(*name)),
            _ => {}
        }
    }
    repair_required(members);
}

fn repair_map(members: &mut Map<String, Value>, name: &str) {
    match members.get_mut(name) {
        Some(Value::Object(schemas)) => schemas.values_mut().for_each(repair),
        Some(Value::Null) => drop(members.remove(name)),
        Some(list @ Value::Array(_)) if list.as_array().is_some_and(Vec::is_empty) => *list = json!({}),
        _ => {}
    }
}

/// Moves `required: true` of properties into the list of their object.
fn hoist_required(members: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = members.get("properties") else {
        return;
    };
    let is_required = |schema: &Value| schema.get("required") == Some(&Value::Bool(true));
    let names: Vec<Value> = properties
        .iter()
        .filter(|(_, schema)| is_required(schema))
        .map(|(name, _)| name.as_str().into())
        .collect();
    if names.is_empty() {
        return;
    }
    match members.get_mut("required") {
        Some(Value::Array(list)) => list.extend(names),
        _ => drop(members.insert("required".to_owned(), names.into())),
    }
}

fn repair_required(members: &mut Map<String, Value>) {
    match members.get("required") {
        Some(Value::Array(_)) | None => {}
        Some(Value::Object(list)) if !list.is_empty() => {
            let names: Vec<Value> = list.values().cloned().collect();
            members.insert("required".to_owned(), names.into());
        }
        // That of a property was read by its parent.
        Some(_) => drop(members.remove("required")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mut schema: Value, expected: Value) {
        repair(&mut schema);
        assert_eq!(schema, expected);
    }

    #[test]
    fn empty_lists_and_null_become_what_they_stand_for() {
        check(json!([]), json!({}));
        check(
            json!({"type": "object", "properties": [], "required": null}),
            json!({"type": "object", "properties": {}}),
        );
        check(
            json!({"properties": {"a": [], "b": {"properties": [], "items": []}}, "$defs": null, "anyOf": []}),
            json!({"properties": {"a": {}, "b": {"properties": {}, "items": {}}}}),
        );
        check(
            json!({"additionalProperties": "false"}),
            json!({"additionalProperties": false}),
        );
        check(json!({"required": {"1": "a"}}), json!({"required": ["a"]}));
    }

    #[test]
    fn properties_that_are_required_are_kept_so() {
        check(
            json!({"properties": {"a": {"type": "string", "required": true}, "b": {"required": false}}, "required": ["c"]}),
            json!({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["c", "a"]}),
        );
    }

    #[test]
    fn valid_schemas_and_values_are_unchanged() {
        let schema = json!({"type": "object", "properties": {"properties": {"type": "array", "default": []},
            "required": {"type": "boolean"}}, "required": [], "enum": [[], null], "const": []});
        check(schema.clone(), schema);
    }
}
