//! The schemas that Gemini takes: a subset of OpenAPI 3.0 that refuses keywords it does not know.
//!
//! Notes for readers go away, and so do keywords that only narrow what is allowed: a reply is checked against the
//! author's own schema anyway. What gives the data its shape is rewritten or refused.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::wire::schema_fault::SchemaFault;

/// Notes that change nothing.
const NOTES: &[&str] = &[
    "$schema",
    "$id",
    "$comment",
    "$anchor",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Keywords that only narrow.
const NARROWING: &[&str] = &[
    "propertyNames",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "uniqueItems",
    "contentEncoding",
    "contentMediaType",
];

/// Keywords that give shape and have no counterpart.
const REFUSED: &[&str] = &[
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "dependentSchemas",
    "dependentRequired",
    "prefixItems",
];

/// References are followed so far; what goes deeper refers to itself.
const DEEPEST: usize = 32;

/// The schema in Gemini's subset.
pub(super) fn adapt(schema: &Value) -> Result<Cow<'_, Value>, SchemaFault> {
    let adapted = rewrite(schema, schema, 0)?;
    Ok(if adapted == *schema {
        Cow::Borrowed(schema)
    } else {
        Cow::Owned(adapted)
    })
}

fn rewrite(schema: &Value, root: &Value, depth: usize) -> Result<Value, SchemaFault> {
    let Value::Object(members) = schema else {
        return Ok(schema.clone());
    };
    if depth > DEEPEST {
        return Err(SchemaFault::new(
            "it refers to itself or is too deep: Gemini takes no recursive schemas",
        ));
    }
    if let Some(Value::String(reference)) = members.get("$ref") {
        return follow(reference, members, root, depth);
    }
    let mut adapted = Map::new();
    for (name, value) in members {
        keyword(name, value, root, depth, &mut adapted).map_err(|fault| fault.below(name))?;
    }
    // An array must say what is in it; anything, if need be.
    if adapted.get("type").and_then(Value::as_str) == Some("array") && !adapted.contains_key("items") {
        adapted.insert("items".into(), json!({}));
    }
    Ok(Value::Object(adapted))
}

/// Puts what a reference means in its place; what stands beside it stands over it.
fn follow(reference: &str, members: &Map<String, Value>, root: &Value, depth: usize) -> Result<Value, SchemaFault> {
    let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
    let Some(Value::Object(target)) = target else {
        return Err(SchemaFault::new(format!("`{reference}` refers to nothing in the schema")).below("$ref"));
    };
    let mut merged = target.clone();
    merged.extend(
        members
            .iter()
            .filter(|(name, _)| *name != "$ref")
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    rewrite(&Value::Object(merged), root, depth + 1).map_err(|fault| fault.below("$ref"))
}

fn keyword(
    name: &str,
    value: &Value,
    root: &Value,
    depth: usize,
    to: &mut Map<String, Value>,
) -> Result<(), SchemaFault> {
    let mut put = |name: &str, value: Value| {
        to.insert(name.to_owned(), value);
    };
    match name {
        "$defs" | "definitions" => {}
        _ if NOTES.contains(&name) || NARROWING.contains(&name) => {}
        _ if REFUSED.contains(&name) => {
            return Err(SchemaFault::new(format!(
                "Gemini has no `{name}`: write the schema without it"
            )));
        }
        "additionalProperties" if value.is_boolean() => {}
        "additionalProperties" => {
            return Err(SchemaFault::new(
                "Gemini has no objects with members of any name: list the properties",
            ));
        }
        "properties" => put(name, each(value, root, depth)?),
        "items" => put(name, rewrite(value, root, depth + 1)?),
        "anyOf" | "oneOf" => put("anyOf", each(value, root, depth)?),
        "const" => put("enum", json!([value])),
        "type" => {
            let (kind, is_nullable) = one_type(value)?;
            put("type", kind);
            if is_nullable {
                put("nullable", true.into());
            }
        }
        _ => put(name, value.clone()),
    }
    Ok(())
}

fn each(schemas: &Value, root: &Value, depth: usize) -> Result<Value, SchemaFault> {
    match schemas {
        Value::Object(members) => members
            .iter()
            .map(|(name, schema)| {
                let adapted = rewrite(schema, root, depth + 1).map_err(|fault| fault.below(name))?;
                Ok((name.clone(), adapted))
            })
            .collect::<Result<Map<_, _>, _>>()
            .map(Value::Object),
        Value::Array(items) => items
            .iter()
            .map(|schema| rewrite(schema, root, depth + 1))
            .collect::<Result<_, _>>()
            .map(Value::Array),
        other => Ok(other.clone()),
    }
}

/// `["string", "null"]` is a nullable string.
fn one_type(kind: &Value) -> Result<(Value, bool), SchemaFault> {
    let Value::Array(kinds) = kind else {
        return Ok((kind.clone(), false));
    };
    let mut others = kinds.iter().filter(|kind| *kind != "null");
    match (others.next(), others.next()) {
        (Some(kind), None) => Ok((kind.clone(), kinds.len() > 1)),
        _ => Err(SchemaFault::new(
            "Gemini takes one type, and `null`: use `anyOf` for several",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewrites_what_has_a_counterpart() {
        let check = |schema: Value, expected: Value| assert_eq!(*adapt(&schema).unwrap(), expected);
        check(
            json!({"$schema": "x", "type": "object", "properties": {"a": {"type": ["string", "null"]}}, "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"type": "string", "nullable": true}}}),
        );
        check(json!({"type": "array"}), json!({"type": "array", "items": {}}));
        check(json!({"const": "x"}), json!({"enum": ["x"]}));
        check(
            json!({"$defs": {"d": {"type": "string", "title": "D"}}, "oneOf": [{"$ref": "#/$defs/d", "title": "E"}]}),
            json!({"anyOf": [{"type": "string", "title": "E"}]}),
        );
    }

    #[test]
    fn refuses_what_has_none() {
        let check = |schema: Value, expected: &str| {
            let told = adapt(&schema).unwrap_err().to_string();
            assert!(told.contains(expected), "{told}");
        };
        check(
            json!({"properties": {"a": {"additionalProperties": {"type": "string"}}}}),
            "at $.properties.a.additionalProperties, Gemini",
        );
        check(json!({"allOf": []}), "Gemini has no `allOf`");
        check(json!({"$ref": "#/$defs/no"}), "refers to nothing");
        check(
            json!({"$defs": {"d": {"properties": {"d": {"$ref": "#/$defs/d"}}}}, "$ref": "#/$defs/d"}),
            "refers to itself",
        );
        check(json!({"type": ["string", "number"]}), "one type");
    }

    #[test]
    fn borrows_what_fits() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        assert!(matches!(adapt(&schema).unwrap(), Cow::Borrowed(_)));
    }
}
