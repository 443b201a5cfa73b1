//! Compares this validator with the full one.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Validator;
use crate::schema::full;

/// Schemas, with the part of the draft that they use.
fn schemas() -> Vec<Value> {
    vec![
        json!({"type": "integer"}),
        json!({"type": ["string", "null"]}),
        json!({"type": "number", "minimum": 1, "maximum": 3}),
        json!({"exclusiveMinimum": 1, "exclusiveMaximum": 3.5}),
        json!({"multipleOf": 2}),
        json!({"type": "string", "minLength": 1, "maxLength": 2}),
        json!({"enum": [1, "a", null, {"a": 1}, [1]]}),
        json!({"const": {"a": [1, "a"]}}),
        json!({"items": {"type": "integer"}, "minItems": 1, "maxItems": 2}),
        json!({"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false}),
        json!({"uniqueItems": true}),
        json!({"properties": {"a": {"type": "integer"}}, "required": ["a", "b"], "additionalProperties": false}),
        json!({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}),
        json!({"patternProperties": {"^\\d+$": {"type": "integer"}, "^-?\\d+$": {"minimum": 1}}, "additionalProperties": false}),
        json!({"minProperties": 1, "maxProperties": 1}),
        json!({"propertyNames": {"maxLength": 1}}),
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"allOf": [{"type": "integer"}, {"minimum": 2}]}),
        json!({"anyOf": [{"type": "integer"}, {"type": "object", "required": ["a"]}, {"items": {"type": "integer"}, "type": "array"}]}),
        json!({"oneOf": [{"type": "integer"}, {"minimum": 2}]}),
        json!({"oneOf": [
            {"type": "object", "properties": {"a": {"const": 1}, "b": {"type": "integer"}}, "required": ["a", "b"]},
            {"type": "object", "properties": {"a": {"const": "a"}}, "required": ["a"], "additionalProperties": false},
        ]}),
        json!({"not": {"type": "integer"}}),
        json!({"if": {"type": "integer"}, "then": {"minimum": 2}, "else": {"type": "string"}}),
        json!({"$ref": "#/$defs/tree", "$defs": {"tree": {
            "type": "object", "properties": {"a": {"$ref": "#/$defs/tree"}, "b": {"type": "integer"}}, "additionalProperties": false,
        }}}),
        json!({"properties": {"a": false, "b": true}}),
        json!({"title": "t", "format": "email", "default": 1, "x-vendor": 1}),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1_i64..5).prop_map(Value::from),
        prop_oneof![Just(0.0), Just(1.0), Just(1.5), Just(-0.0)].prop_map(Value::from),
        prop_oneof![Just(""), Just("a"), Just("éé"), Just("abc")].prop_map(Value::from),
    ];
    let name = prop_oneof![Just("a"), Just("b"), Just("7"), Just("-7"), Just("xy")].prop_map(str::to_owned);
    leaf.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..3).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Returns the violations in a fixed order, and without the types that they list, which are shown in another way.
fn outline(result: Result<(), Vec<agcore_chat::SchemaViolation>>) -> Vec<String> {
    let violations = result.err().unwrap_or_default();
    let without_list = |text: String| {
        // The full validator takes the name of a member for an index if it is a number.
        let text = text.replace("[7]", ".7");
        let list = text.find(" is not of types ");
        text[..list.unwrap_or(text.len())].to_owned()
    };
    let mut lines: Vec<String> = violations
        .iter()
        .map(|violation| without_list(violation.to_string()))
        .collect();
    lines.sort();
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn agrees_with_the_full_validator(schema in prop::sample::select(schemas()), value in values()) {
        let basic = Validator::new(&schema).unwrap();
        let full = full::Validator::new(&schema).unwrap();
        prop_assert_eq!(outline(basic.check(&value)), outline(full.check(&value)), "{} {}", schema, value);
    }
}
