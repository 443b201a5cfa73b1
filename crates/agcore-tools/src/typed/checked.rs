//! [`is_checked_by_types`]: finds out whether deserialization checks all that a derived schema demands.

use serde_json::Value;

/// Returns whether a schema that was derived from a type demands only what deserialization into this type checks.
///
/// It does not for limits that an attribute sets (`#[schemars(range(max = 9))]`), for sets, which drop what is there twice, and
/// for unknown members of inner objects. Those of the root are checked before.
pub(super) fn is_checked_by_types(schema: &Value) -> bool {
    let keywords = schema.as_object().into_iter().flatten();
    let mut others = keywords.filter(|(keyword, operand)| *keyword != "additionalProperties" || **operand != false);
    others.all(|(keyword, operand)| is_checked(schema, keyword, operand))
}

/// Returns whether deserialization checks a keyword of a schema.
fn is_checked(schema: &Value, keyword: &str, operand: &Value) -> bool {
    match keyword {
        "$defs" | "anyOf" | "oneOf" | "patternProperties" | "prefixItems" | "properties" => match operand {
            Value::Array(schemas) => schemas.iter().all(are_all_checked),
            Value::Object(schemas) => schemas.values().all(are_all_checked),
            _ => true,
        },
        "additionalProperties" | "items" => are_all_checked(operand),
        "maximum" | "minimum" => is_range_of_type(schema, keyword, operand),
        // The length of tuples and arrays, and of a character.
        "maxItems" | "minItems" => schema.get("maxItems") == schema.get("minItems"),
        "maxLength" | "minLength" => schema["maxLength"] == 1 && schema["minLength"] == 1,
        "$ref" | "$schema" | "const" | "default" | "description" | "enum" | "examples" | "format" | "required"
        | "title" | "type" => true,
        _ => false,
    }
}

/// Returns whether deserialization checks all keywords of an inner schema. It ignores unknown members.
fn are_all_checked(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => keywords
            .iter()
            .all(|(keyword, operand)| is_checked(schema, keyword, operand)),
        _ => *schema != false,
    }
}

/// Returns whether a limit is that of an integer type, such as `u8`.
fn is_range_of_type(schema: &Value, keyword: &str, limit: &Value) -> bool {
    let (minimum, maximum): (i64, i64) = match schema["format"].as_str() {
        Some("uint8") => (0, u8::MAX.into()),
        Some("uint16") => (0, u16::MAX.into()),
        Some("uint32" | "uint64" | "uint128" | "uint") => (0, i64::MAX),
        Some("int8") => (i8::MIN.into(), i8::MAX.into()),
        Some("int16") => (i16::MIN.into(), i16::MAX.into()),
        _ => return false,
    };
    let expected = if keyword == "minimum" { minimum } else { maximum };
    limit.as_f64() == Some(expected as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use schemars::{JsonSchema, SchemaGenerator};
    use serde_json::json;

    use super::*;

    fn of<T: JsonSchema>() -> bool {
        is_checked_by_types(&SchemaGenerator::default().into_root_schema_for::<T>().to_value())
    }

    #[test]
    fn types_check_their_own_schemas() {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is needed")]
        struct Plain {
            small: u8,
            signed: Option<i16>,
            letter: char,
            pair: (u32, String),
            list: Vec<f64>,
            map: BTreeMap<String, Either>,
            next: Option<Box<Plain>>,
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is needed")]
        enum Either {
            Left,
            Right,
        }
        assert!(of::<Plain>());
    }

    #[test]
    fn types_do_not_check_what_attributes_demand() {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is needed")]
        struct Limited {
            #[schemars(range(max = 9))]
            digit: u8,
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is needed")]
        struct Long {
            #[schemars(length(max = 9))]
            text: String,
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is needed")]
        struct Formed {
            #[schemars(regex(pattern = "^a"))]
            text: String,
        }
        assert!(!of::<Limited>());
        assert!(!of::<Vec<Long>>());
        assert!(!of::<Formed>());
        assert!(!of::<BTreeSet<u8>>());
    }

    #[test]
    fn types_ignore_unknown_members_of_inner_objects() {
        let inner = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false});
        assert!(is_checked_by_types(&inner));
        assert!(!is_checked_by_types(&json!({"properties": {"inner": inner}})));
    }
}
