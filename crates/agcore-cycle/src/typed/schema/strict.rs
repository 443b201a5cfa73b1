//! The form of a schema that vendors can force: every property required, objects closed.
//!
//! It only narrows: what matches it matches the schema. After "Supported schemas" of OpenAI's guide to structured outputs,
//! whose strict mode is the narrowest.

use serde_json::{Map, Value};

use agcore_chat::schema;

/// Keywords that give shape or limits and that strict mode does not know.
const UNKNOWN: &[&str] = &[
    "prefixItems",
    "contains",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "unevaluatedItems",
];

/// The formats of strings that it knows. Those of numbers only say how a program keeps them.
const FORMATS: &[&str] = &[
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

/// The schema in that form, if it has one.
pub(crate) fn strict_form(schema: &Value) -> Option<Value> {
    let mut narrow = schema.clone();
    narrowed(&mut narrow)?;
    schema::closed(&narrow).is_ok().then_some(narrow)
}

fn narrowed(schema: &mut Value) -> Option<()> {
    let Value::Object(members) = schema else {
        // `true` and `false` are no shapes.
        return None;
    };
    if UNKNOWN.iter().any(|keyword| members.contains_key(*keyword)) {
        return None;
    }
    if members.contains_key("$ref") {
        // Nothing may stand beside a reference but what it refers to.
        members.retain(|name, _| matches!(name.as_str(), "$ref" | "$defs" | "definitions"));
    }
    members.shift_remove("default");
    if let Some(Value::String(format)) = members.get("format")
        && !FORMATS.contains(&format.as_str())
    {
        members.shift_remove("format");
    }
    // Only one of them can be meant, so any of them is.
    if !members.contains_key("anyOf")
        && let Some(choices) = members.shift_remove("oneOf")
    {
        members.insert("anyOf".to_owned(), choices);
    }
    require_all(members);
    inner_schemas(members).try_for_each(narrowed)
}

fn require_all(members: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = members.get("properties") else {
        return;
    };
    let required: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
    members.insert("required".to_owned(), required.into());
}

fn inner_schemas(members: &mut Map<String, Value>) -> impl Iterator<Item = &mut Value> {
    members.iter_mut().flat_map(|(name, inner)| {
        let inner: Vec<&mut Value> = match (name.as_str(), inner) {
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => schemas.values_mut().collect(),
            ("anyOf", Value::Array(schemas)) => schemas.iter_mut().collect(),
            ("items", schema) => vec![schema],
            _ => Vec::new(),
        };
        inner
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn optional_properties_become_required_and_annotations_go() {
        let schema = json!({
            "type": "object",
            "properties": {
                "age": {"type": ["integer", "null"], "format": "uint8", "minimum": 0, "default": null},
                "born": {"type": "string", "format": "date"},
                "next": {"$ref": "#/$defs/next", "description": "The next."},
                "kind": {"oneOf": [{"const": "a"}, {"type": "object", "properties": {"b": {"type": "string"}}}]},
            },
            "required": ["born"],
            "$defs": {"next": {"type": "object", "properties": {"default": {"type": "string"}}}},
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "age": {"type": ["integer", "null"], "minimum": 0},
                "born": {"type": "string", "format": "date"},
                "next": {"$ref": "#/$defs/next"},
                "kind": {"anyOf": [
                    {"const": "a"},
                    {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
                ]},
            },
            "required": ["age", "born", "next", "kind"],
            "$defs": {"next": {"type": "object", "properties": {"default": {"type": "string"}},
                      "required": ["default"]}},
        });
        assert_eq!(strict_form(&schema), Some(expected));
    }

    #[test]
    fn what_cannot_be_forced_has_no_such_form() {
        for schema in [
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "properties": {"pair": {"type": "array", "prefixItems": []}}}),
            json!({"type": "object", "properties": {"any": true}}),
            json!({"type": "object", "properties": {"all": {"allOf": []}}}),
        ] {
            assert_eq!(strict_form(&schema), None, "{schema}");
        }
    }
}
