//! Validation without the feature `schema`, where it differs.

use agcore_tools::{
    BaseTool as _, ToolErrorKind, ToolRegistry,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Echo, error_text, executor_for, settle, text};

#[test]
fn refuses_schemas_that_need_the_full_validator() {
    for (schema, place) in [
        (
            json!({"properties": {"a": {"pattern": "^a"}}}),
            "$.properties.a.pattern",
        ),
        (json!({"patternProperties": {"^a": {}}}), "$.patternProperties.^a"),
        (json!({"unevaluatedProperties": false}), "$.unevaluatedProperties"),
        (json!({"properties": {"a": {"items": [{}]}}}), "$.properties.a.items"),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            "$.$schema",
        ),
        (
            json!({"properties": {"a": {"multipleOf": 0.1}}}),
            "$.properties.a.multipleOf",
        ),
        (
            json!({"properties": {"a": {"$ref": "#/x-parts/b"}}, "x-parts": {"b": {"pattern": "^a"}}}),
            "$.properties.a.$ref.pattern",
        ),
    ] {
        let mut parameters = json!({"type": "object"});
        parameters
            .as_object_mut()
            .unwrap()
            .extend(schema.as_object().unwrap().clone());
        let registered = ToolRegistry::new().register(Echo::new("t").with_parameters(parameters));
        let error = registered.expect_err("the schema needs the full validator");
        assert_eq!(error.kind(), ToolErrorKind::Config);
        let expected = format!(
            "t cannot be registered: invalid JSON Schema: {place} needs the full validator: enable the feature `schema` of the \
             crate agcore (or agcore-tools), or do without this keyword"
        );
        assert_eq!(error.message(), expected);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Roll {
    #[schemars(range(min = 1, max = 6))]
    eyes: u8,
}

#[derive(Deserialize, JsonSchema)]
struct Word {
    #[schemars(regex(pattern = "^[a-z]+$"))]
    word: String,
}

#[tokio::test]
async fn limits_of_types_are_checked_before_the_tool_runs() {
    let roll = typed("roll", "Rolls.", |args: Roll| async move { Ok(args.eyes) });
    assert!(!roll.validates_arguments());
    let executor = executor_for([roll]).build().unwrap();
    text(&settle(&executor, "roll", json!({"eyes": 6})).await);
    assert_eq!(
        error_text(&settle(&executor, "roll", json!({"eyes": 7})).await),
        "invalid arguments for roll: $.eyes: 7 is greater than the maximum of 6"
    );

    let word = typed("word", "Takes a word.", |args: Word| async move { Ok(args.word) });
    let error = ToolRegistry::new()
        .register(word)
        .expect_err("patterns are not understood");
    assert!(error.message().contains("$.properties.word.pattern needs"), "{error}");
}

#[tokio::test]
async fn endless_schemas_are_refused_and_do_not_overflow_the_stack() {
    // Each of these is applied without end, or to an exponential number of alternatives.
    let doubled = |n: usize| {
        (
            format!("d{n}"),
            json!({"allOf": [{"$ref": format!("#/$defs/d{}", n + 1)}, {"$ref": format!("#/$defs/d{}", n + 1)}]}),
        )
    };
    let mut exponential: serde_json::Map<String, Value> = (0..60).map(doubled).collect();
    exponential.insert("d60".to_owned(), json!(true));
    for schema in [
        json!({"type": "object", "$ref": "#"}),
        json!({"type": "object", "not": {"$ref": "#"}}),
        json!({"type": "object", "allOf": [{"$ref": "#/$defs/d0"}], "$defs": exponential}),
    ] {
        let executor = executor_for([Echo::new("t").with_parameters(schema)]).build().unwrap();
        assert_eq!(
            error_text(&settle(&executor, "t", json!({})).await),
            "invalid arguments for t: $: the value and its schema are too deeply nested, or too complex, to be checked"
        );
    }
}

#[tokio::test]
async fn large_values_are_checked_whole() {
    let schema = json!({"type": "object", "properties": {"list": {"items": {"type": "integer"}, "uniqueItems": true}}});
    let executor = executor_for([Echo::new("t").with_parameters(schema)]).build().unwrap();
    let mut list: Vec<Value> = (0..20_000).map(Value::from).collect();
    text(&settle(&executor, "t", json!({"list": list})).await);
    list.push("x".into());
    let shown = error_text(&settle(&executor, "t", json!({"list": list})).await);
    assert_eq!(
        shown,
        r#"invalid arguments for t: $.list[20000]: "x" is not of type "integer""#
    );
}
