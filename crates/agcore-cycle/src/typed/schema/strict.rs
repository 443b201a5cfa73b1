//! Converts a schema into the form that vendors can force: every property is required, and objects are closed.
//!
//! The conversion only narrows: a value that matches the result also matches the schema. It follows "Supported schemas" in
//! OpenAI's guide to structured outputs, whose strict mode is the most restrictive.

use agcore_chat::schema;
use serde_json::{Map, Value};

/// Keywords for structure and limits that strict mode does not support.
const UNSUPPORTED: &[&str] = &[
    "prefixItems",
    "contains",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "unevaluatedItems",
];

/// The string formats that strict mode supports. Formats of numbers only state how a program stores them.
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

/// Returns the schema in that form, if it has one.
pub(crate) fn strict_form(schema: &Value) -> Option<Value> {
    let mut strict = schema.clone();
    narrow(&mut strict)?;
    schema::closed(&strict).is_ok().then_some(strict)
}

fn narrow(schema: &mut Value) -> Option<()> {
    let Value::Object(members) = schema else {
        // `true` and `false` cannot be forced.
        return None;
    };
    if UNSUPPORTED.iter().any(|keyword| members.contains_key(*keyword)) {
        return None;
    }
    if members.contains_key("$ref") {
        // Strict mode allows nothing else next to a reference.
        members.retain(|name, _| matches!(name.as_str(), "$ref" | "$defs" | "definitions"));
    }
    members.shift_remove("default");
    if let Some(Value::String(format)) = members.get("format")
        && !FORMATS.contains(&format.as_str())
    {
        members.shift_remove("format");
    }
    // Strict mode has no `oneOf`. Alternatives usually exclude each other, so `anyOf` means the same.
    if !members.contains_key("anyOf")
        && let Some(choices) = members.shift_remove("oneOf")
    {
        members.insert("anyOf".to_owned(), choices);
    }
    require_all(members);
    inner_schemas(members).try_for_each(narrow)
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
    fn requires_all_properties_and_removes_annotations() {
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
    fn rejects_schemas_that_cannot_be_forced() {
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
