//! Schemas of typed output: an object at the root, a name, a form that vendors can force.

mod strict;

pub(super) use strict::strict_form;

use serde_json::{Map, Value, json};

/// The one property of an object that stands around another type.
pub(super) const WRAPPED: &str = "value";

/// Keywords that let something else than one plain object stand at a root.
const NOT_PLAIN: &[&str] = &["$ref", "anyOf", "oneOf", "allOf", "not", "if", "enum", "const"];

/// Keywords that hold values, no schemas.
const VALUES: &[&str] = &["const", "enum", "default", "examples"];

/// The longest name of a schema.
const NAME: usize = 64;

/// The schema of a type as models like it: without references where there is no recursion, without `$schema` and the
/// type's name.
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

/// Whether a schema is that of a plain object, as vendors want it at the root.
pub(super) fn is_object(schema: &Value) -> bool {
    let Value::Object(members) = schema else { return false };
    members.get("type").is_some_and(|kind| kind == "object")
        && !NOT_PLAIN.iter().any(|keyword| members.contains_key(*keyword))
}

/// The schema of an object whose only property has this schema. References go on meaning the same.
pub(super) fn wrapped(mut schema: Value) -> Value {
    let mut around = Map::new();
    if let Value::Object(members) = &mut schema {
        for name in ["$defs", "definitions"] {
            if let Some(definitions) = members.shift_remove(name) {
                around.insert(name.to_owned(), definitions);
            }
        }
    }
    move_references(&mut schema);
    around.values_mut().for_each(move_references);
    let mut root = Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), json!({ WRAPPED: schema })),
        ("required".to_owned(), json!([WRAPPED])),
        ("additionalProperties".to_owned(), json!(false)),
    ]);
    root.extend(around);
    Value::Object(root)
}

/// Points references to the old root to where it is now. Definitions stay at the root.
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

/// A name as every vendor takes it.
pub(super) fn name(wish: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '_' || letter == '-' {
            letter
        } else {
            '_'
        }
    };
    let name: String = wish.chars().map(plain).take(NAME).collect();
    if name.is_empty() { "answer".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_objects_stand_at_the_root() {
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
    fn references_survive_the_wrapping() {
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
    fn names_are_plain() {
        assert_eq!(name("Vec<City>"), "Vec_City_");
        assert_eq!(name(""), "answer");
        assert_eq!(name(&"é".repeat(100)), "_".repeat(64));
    }
}
