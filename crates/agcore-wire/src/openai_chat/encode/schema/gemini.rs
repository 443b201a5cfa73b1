//! Conversion of schemas to the subset of OpenAPI 3.0 that Gemini accepts. Gemini rejects unknown keywords.
//!
//! Annotations are removed, and so are keywords that only restrict values: replies are checked against the original schema
//! anyway. Keywords that define the structure are rewritten or refused.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use agcore_chat::schema::SchemaError;

/// Keywords without effect on validation.
const ANNOTATIONS: &[&str] = &[
    "$schema",
    "$id",
    "$comment",
    "$anchor",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Keywords that only restrict values.
const RESTRICTIONS: &[&str] = &[
    "propertyNames",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "uniqueItems",
    "contentEncoding",
    "contentMediaType",
];

/// Keywords that define the structure and have no equivalent.
const UNSUPPORTED: &[&str] = &[
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

/// The maximum nesting. Anything deeper is taken for a recursive schema.
const MAX_DEPTH: usize = 32;

/// Converts a schema to Gemini's subset.
pub(super) fn adapt(schema: &Value) -> Result<Cow<'_, Value>, SchemaError> {
    let adapted = rewrite(schema, schema, 0)?;
    Ok(if adapted == *schema {
        Cow::Borrowed(schema)
    } else {
        Cow::Owned(adapted)
    })
}

fn rewrite(schema: &Value, root: &Value, depth: usize) -> Result<Value, SchemaError> {
    let Value::Object(members) = schema else {
        return Ok(schema.clone());
    };
    if depth > MAX_DEPTH {
        return Err(SchemaError::new(
            "the schema is recursive or too deep: Gemini does not support recursive schemas",
        ));
    }
    if let Some(Value::String(reference)) = members.get("$ref") {
        return resolve(reference, members, root, depth);
    }
    let mut adapted = Map::new();
    for (name, value) in members {
        rewrite_keyword(name, value, root, depth, &mut adapted).map_err(|error| error.within(name))?;
    }
    // An array must have `items`; an empty schema allows anything.
    if adapted.get("type").and_then(Value::as_str) == Some("array") && !adapted.contains_key("items") {
        adapted.insert("items".into(), json!({}));
    }
    Ok(Value::Object(adapted))
}

/// Replaces a reference with its target. Members next to the reference override those of the target.
fn resolve(reference: &str, members: &Map<String, Value>, root: &Value, depth: usize) -> Result<Value, SchemaError> {
    let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
    let Some(Value::Object(target)) = target else {
        return Err(SchemaError::new(format!("`{reference}` does not exist in the schema")).within("$ref"));
    };
    let mut merged = target.clone();
    merged.extend(
        members
            .iter()
            .filter(|(name, _)| *name != "$ref")
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    rewrite(&Value::Object(merged), root, depth + 1).map_err(|error| error.within("$ref"))
}

fn rewrite_keyword(
    name: &str,
    value: &Value,
    root: &Value,
    depth: usize,
    to: &mut Map<String, Value>,
) -> Result<(), SchemaError> {
    let mut put = |name: &str, value: Value| {
        to.insert(name.to_owned(), value);
    };
    match name {
        "$defs" | "definitions" => {}
        _ if ANNOTATIONS.contains(&name) || RESTRICTIONS.contains(&name) => {}
        _ if UNSUPPORTED.contains(&name) => {
            return Err(SchemaError::new(format!(
                "Gemini does not support `{name}`: write the schema without it"
            )));
        }
        "additionalProperties" if value.is_boolean() => {}
        "additionalProperties" => {
            return Err(SchemaError::new(
                "Gemini does not support objects with arbitrary members: list the properties",
            ));
        }
        "properties" => put(name, rewrite_each(value, root, depth)?),
        "items" => put(name, rewrite(value, root, depth + 1)?),
        "anyOf" | "oneOf" => put("anyOf", rewrite_each(value, root, depth)?),
        "const" => put("enum", json!([value])),
        "type" => {
            let (kind, is_nullable) = single_type(value)?;
            put("type", kind);
            if is_nullable {
                put("nullable", true.into());
            }
        }
        _ => put(name, value.clone()),
    }
    Ok(())
}

fn rewrite_each(schemas: &Value, root: &Value, depth: usize) -> Result<Value, SchemaError> {
    match schemas {
        Value::Object(members) => members
            .iter()
            .map(|(name, schema)| {
                let adapted = rewrite(schema, root, depth + 1).map_err(|error| error.within(name))?;
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

/// Returns the type, and whether `null` is allowed as well: `["string", "null"]` is a nullable string.
fn single_type(kind: &Value) -> Result<(Value, bool), SchemaError> {
    let Value::Array(kinds) = kind else {
        return Ok((kind.clone(), false));
    };
    let mut others = kinds.iter().filter(|kind| *kind != "null");
    match (others.next(), others.next()) {
        (Some(kind), None) => Ok((kind.clone(), kinds.len() > 1)),
        _ => Err(SchemaError::new(
            "Gemini supports a single type and `null`: use `anyOf` for several types",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewrites_keywords_with_an_equivalent() {
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
    fn refuses_unsupported_keywords() {
        let check = |schema: Value, expected: &str| {
            let error = adapt(&schema).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(
            json!({"properties": {"a": {"additionalProperties": {"type": "string"}}}}),
            "at $.properties.a.additionalProperties, Gemini",
        );
        check(json!({"allOf": []}), "Gemini does not support `allOf`");
        check(json!({"$ref": "#/$defs/no"}), "does not exist");
        check(
            json!({"$defs": {"d": {"properties": {"d": {"$ref": "#/$defs/d"}}}}, "$ref": "#/$defs/d"}),
            "is recursive",
        );
        check(json!({"type": ["string", "number"]}), "single type");
    }

    #[test]
    fn borrows_a_schema_that_needs_no_change() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        assert!(matches!(adapt(&schema).unwrap(), Cow::Borrowed(_)));
    }
}
