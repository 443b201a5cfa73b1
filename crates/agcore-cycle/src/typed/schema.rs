//! Schemas of typed output: an object at the root, a valid name, and a form that vendors can force.

mod strict;

pub(super) use strict::strict_form;

use serde_json::{Map, Value, json};

/// The only property of an object that wraps another type.
pub(super) const WRAPPED: &str = "value";

/// Keywords that allow other values than a plain object at the root.
const NOT_PLAIN: &[&str] = &["$ref", "anyOf", "oneOf", "allOf", "not", "if", "enum", "const"];

/// Keywords that contain values, not schemas.
const VALUES: &[&str] = &["const", "enum", "default", "examples"];

/// The longest name of a schema, in characters.
const NAME: usize = 64;

/// Returns the schema of a type in the form that suits models: references only for recursive types, no `$schema`, no `title`.
#[cfg(feature = "typed")]
pub(super) fn schema_of<T: schemars::JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}

/// Returns whether a schema describes a plain object, which vendors require at the root.
pub(super) fn is_object(schema: &Value) -> bool {
    let Value::Object(members) = schema else { return false };
    members.get("type").is_some_and(|kind| kind == "object")
        && !NOT_PLAIN.iter().any(|keyword| members.contains_key(*keyword))
}

/// Returns the schema of an object whose only property has this schema. References keep their meaning.
pub(super) fn wrapped(mut schema: Value) -> Value {
    let mut definitions_at_root = Map::new();
    if let Value::Object(members) = &mut schema {
        for name in ["$defs", "definitions"] {
            if let Some(definitions) = members.shift_remove(name) {
                definitions_at_root.insert(name.to_owned(), definitions);
            }
        }
    }
    move_references(&mut schema);
    definitions_at_root.values_mut().for_each(move_references);
    let mut root = Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), json!({ WRAPPED: schema })),
        ("required".to_owned(), json!([WRAPPED])),
        ("additionalProperties".to_owned(), json!(false)),
    ]);
    root.extend(definitions_at_root);
    Value::Object(root)
}

/// Redirects references from the old root to its new location. Definitions stay at the root.
fn move_references(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (name, inner) in members {
                match inner {
                    Value::String(target) if name == "$ref" => {
                        let below = target.strip_prefix('#');
                        let is_kept =
                            |below: &&str| !below.starts_with("/$defs/") && !below.starts_with("/definitions/");
                        if let Some(below) = below.filter(is_kept) {
                            *target = format!("#/properties/{WRAPPED}{below}");
                        }
                    }
                    _ if VALUES.contains(&name.as_str()) => {}
                    inner => move_references(inner),
                }
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(move_references),
        _ => {}
    }
}

/// Converts a name into one that every vendor accepts.
pub(super) fn valid_name(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '_' || letter == '-' {
            letter
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(plain).take(NAME).collect();
    if name.is_empty() { "answer".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_plain_objects() {
        for (schema, expected) in [
            (json!({"type": "object", "properties": {}}), true),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                true,
            ),
            (json!({"type": "object", "anyOf": [{}]}), false),
            (json!({"$ref": "#/$defs/a"}), false),
            (json!({"type": ["object", "null"]}), false),
            (json!({"type": "array"}), false),
            (json!(true), false),
        ] {
            assert_eq!(is_object(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn wrapping_redirects_references() {
        let schema = json!({
            "anyOf": [{"$ref": "#/$defs/leaf"}, {"items": {"$ref": "#"}}, {"$ref": "#/anyOf/0"}],
            "default": {"$ref": "#"},
            "$defs": {"leaf": {"properties": {"$ref": {"type": "string"}, "up": {"$ref": "#"}}}},
        });
        let expected = json!({
            "type": "object",
            "properties": {"value": {
                "anyOf": [
                    {"$ref": "#/$defs/leaf"},
                    {"items": {"$ref": "#/properties/value"}},
                    {"$ref": "#/properties/value/anyOf/0"},
                ],
                "default": {"$ref": "#"},
            }},
            "required": ["value"],
            "additionalProperties": false,
            "$defs": {"leaf": {"properties": {"$ref": {"type": "string"}, "up": {"$ref": "#/properties/value"}}}},
        });
        assert_eq!(wrapped(schema), expected);
    }

    #[test]
    fn names_become_valid() {
        assert_eq!(valid_name("Vec<City>"), "Vec_City_");
        assert_eq!(valid_name(""), "answer");
        assert_eq!(valid_name(&"é".repeat(100)), "_".repeat(64));
    }
}
