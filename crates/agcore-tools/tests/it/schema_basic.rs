//! The validation of tools that do not ask for full validation, in every build.

use agcore_tools::{
    BaseTool as _, ToolErrorKind, ToolRegistry,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Echo, error_text, executor_for, settle, text};

/// The result does not depend on the features of the build: this test runs in each of them.
#[tokio::test]
async fn keywords_that_are_not_understood_are_not_enforced() {
    for (schema, accepted) in [
        (json!({"properties": {"a": {"pattern": "^a"}}}), json!({"a": "b"})),
        (
            json!({"patternProperties": {"^a": {}}, "additionalProperties": false}),
            json!({"ab": 1}),
        ),
        (json!({"unevaluatedProperties": false}), json!({"a": 1})),
        (
            json!({"properties": {"a": {"items": [{"type": "string"}]}}}),
            json!({"a": [1]}),
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-04/schema#",
                "properties": {"a": {"minimum": 0, "exclusiveMinimum": true}}}),
            json!({"a": 1}),
        ),
        (json!({"properties": {"a": {"multipleOf": 0.1}}}), json!({"a": 0.15})),
        // What refuses a value because a schema accepts it is not enforced either.
        (
            json!({"properties": {"a": {"not": {"pattern": "^b"}}}}),
            json!({"a": "a"}),
        ),
        (
            json!({"properties": {"a": {"if": {"pattern": "^b"}, "then": {"type": "integer"}}}}),
            json!({"a": "a"}),
        ),
        (
            json!({"properties": {"a": {"oneOf": [{"pattern": "^a"}, {"pattern": "^b"}]}}}),
            json!({"a": "a"}),
        ),
    ] {
        let mut parameters = json!({"type": "object"});
        parameters
            .as_object_mut()
            .unwrap()
            .extend(schema.as_object().unwrap().clone());
        let executor = executor_for([Echo::new("t").with_parameters(parameters)])
            .build()
            .unwrap();
        text(&settle(&executor, "t", accepted).await);
    }
}

#[tokio::test]
async fn the_rest_of_such_a_schema_is_enforced() {
    let schema = json!({"type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {"a": {"type": "string", "pattern": "^a"}}});
    let executor = executor_for([Echo::new("t").with_parameters(schema)]).build().unwrap();
    for (value, message) in [
        (json!({"a": 1}), "$.a: 1 is not of type \"string\""),
        (json!({}), "$: \"a\" is a required property"),
    ] {
        let shown = error_text(&settle(&executor, "t", value).await);
        assert_eq!(shown, format!("invalid arguments for t: {message}"));
    }
}

#[test]
fn invalid_schemas_are_refused() {
    for schema in [
        json!({"properties": {"a": {"type": "strng"}}}),
        json!({"properties": {"a": {"$ref": "#/$defs/nope"}}}),
        json!({"required": "a"}),
    ] {
        let mut parameters = json!({"type": "object"});
        parameters
            .as_object_mut()
            .unwrap()
            .extend(schema.as_object().unwrap().clone());
        let registered = ToolRegistry::new().register(Echo::new("t").with_parameters(parameters));
        assert_eq!(registered.unwrap_err().kind(), ToolErrorKind::Config, "{schema}");
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
    let executor = executor_for([word]).build().unwrap();
    text(&settle(&executor, "word", json!({"word": "UPPER"})).await);
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
