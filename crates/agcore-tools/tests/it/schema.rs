//! JSON Schema validation, which is the same with and without the feature `schema`.

use agcore_tools::{NoArguments, ToolErrorKind, ToolOutput, ToolRegistry, typed};
use serde_json::{Value, json};

use crate::support::{Echo, call, context, error_text, executor_for, registry, settle, text};

fn itinerary() -> Value {
    json!({
        "type": "object",
        "required": ["days"],
        "additionalProperties": false,
        "properties": {"days": {"type": "array", "items": {"$ref": "#/$defs/day"}}},
        "$defs": {"day": {
            "type": "object",
            "required": ["city"],
            "properties": {
                "city": {"type": "string", "minLength": 2},
                "then": {"$ref": "#/$defs/day"},
            },
        }},
    })
}

#[tokio::test]
async fn validates_arguments_before_the_tool_runs() {
    let tool = Echo::new("plan").with_parameters(itinerary());
    let executor = executor_for([tool.clone()]).build().unwrap();
    for (arguments, expected) in [
        (json!({}), r#"$: "days" is a required property"#),
        (
            json!({"days": [{"city": "Rome"}, {"city": 7}]}),
            r#"$.days[1].city: 7 is not of type "string""#,
        ),
        (
            json!({"days": [{"city": "Rome", "then": {"city": "Oslo", "then": {"city": "x"}}}]}),
            r#"$.days[0].then.then.city: "x" is shorter than 2 characters"#,
        ),
        (json!({"days": [], "x": 1}), "$.x: unknown member; expected days"),
    ] {
        let shown = error_text(&settle(&executor, "plan", arguments).await);
        assert_eq!(shown, format!("invalid arguments for plan: {expected}"));
    }
    assert_eq!(tool.count(), 0);
    text(&settle(&executor, "plan", json!({"days": [{"city": "Rome"}]})).await);
}

#[tokio::test]
async fn limits_the_violations_and_quotes_long_values_only_in_part() {
    let executor = executor_for([Echo::new("plan").with_parameters(itinerary())])
        .build()
        .unwrap();
    let days: Vec<_> = (0..100).map(|_| json!({"city": ["x".repeat(1000)]})).collect();
    let shown = error_text(&settle(&executor, "plan", json!({"days": days})).await);
    assert!(shown.len() < 4200, "{}", shown.len());
    let done = registry([Echo::new("plan").with_parameters(itinerary())])
        .invoke(call("c", "plan", &json!({"days": vec![json!(1); 100]})), &context())
        .await;
    assert_eq!(done.result.unwrap_err().violations().len(), 16);
}

#[test]
fn rejects_invalid_schemas_at_registration() {
    for (schema, reason) in [
        (
            json!({"type": "object", "properties": {"a": {"type": "strnig"}}}),
            "strnig",
        ),
        (
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}}),
            "gone",
        ),
        (
            json!({"type": "object", "properties": {"a": {"$ref": "https://example.org/a.json"}}}),
            "example.org",
        ),
        (
            json!({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}),
            "etc/passwd",
        ),
        (json!({"type": "object", "required": "a"}), "\"a\""),
        (json!({"type": "array"}), "\"type\": \"object\""),
    ] {
        let error = ToolRegistry::new()
            .register(Echo::new("t").with_parameters(schema.clone()))
            .expect_err("the schema is invalid");
        assert_eq!(error.kind(), ToolErrorKind::Config);
        assert!(error.message().contains(reason), "{schema}: {error}");
    }
}

#[tokio::test]
async fn ignores_unknown_keywords() {
    let schema = json!({"type": "object", "x-vendor": {"a": 1}, "properties": {"a": {"format": "house-number"}}});
    let executor = executor_for([Echo::new("t").with_parameters(schema)]).build().unwrap();
    text(&settle(&executor, "t", json!({"a": "b"})).await);
}

#[tokio::test]
async fn checks_deep_values() {
    let mut deep = json!({"city": "Rome"});
    for _ in 0..50 {
        deep = json!({"city": "Rome", "then": deep});
    }
    let executor = executor_for([Echo::new("plan").with_parameters(itinerary())])
        .build()
        .unwrap();
    text(&settle(&executor, "plan", json!({"days": [deep]})).await);
}

#[tokio::test]
async fn rejects_results_that_violate_the_output_schema() {
    for (degrees, is_valid) in [(json!(21), true), (json!("warm"), false)] {
        let tool = typed("weather", "Weather.", move |_: NoArguments| {
            let degrees = degrees.clone();
            async move { Ok(json!({"degrees": degrees})) }
        })
        .with_output_schema(json!({"type": "object", "properties": {"degrees": {"type": "number"}}}));
        let tools = registry([tool]);
        let executor = tools.executor(context()).build().unwrap();
        let outcome = settle(&executor, "weather", json!({})).await;
        if is_valid {
            text(&outcome);
            continue;
        }
        assert_eq!(
            error_text(&outcome),
            "the tool ran, but it returned a value that does not match its output schema; the value was discarded"
        );
        let error = tools
            .invoke(call("c", "weather", &json!({})), &context())
            .await
            .result
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"weather returned a value that violates its own output schema: $.degrees: "warm" is not of type "number""#
        );
    }
}

#[tokio::test]
async fn content_survives_a_value_that_violates_the_output_schema() {
    let outputs: [fn() -> ToolOutput; 3] = [
        || ToolOutput::content_and_value("21 degrees", json!({"degrees": "warm"})),
        || ToolOutput::text("21 degrees"),
        || ToolOutput::content("21 degrees"),
    ];
    for output in outputs {
        let tool = typed("weather", "Weather.", move |_: NoArguments| async move { Ok(output()) })
            .with_output_schema(json!({"type": "object", "properties": {"degrees": {"type": "number"}}}));
        let tools = registry([tool]);
        let output = tools
            .invoke(call("c", "weather", &json!({})), &context())
            .await
            .result
            .unwrap();
        assert_eq!(output.as_value(), None);
        assert_eq!(output.into_content().unwrap().text(), "21 degrees");
    }
}

#[tokio::test]
async fn alternatives_without_a_tag_show_the_errors_of_the_closest_one() {
    let schema = json!({"type": "object", "properties": {"at": {"anyOf": [
        {"type": "string"},
        {"type": "object", "required": ["x", "y"], "properties": {"x": {"type": "number"}, "y": {"type": "number"}}},
        {"type": "null"},
    ]}}});
    let executor = executor_for([Echo::new("t").with_parameters(schema)]).build().unwrap();
    for (at, expected) in [
        (json!({"x": 1}), r#"$.at: "y" is a required property"#),
        (json!({"x": 1, "y": "2"}), r#"$.at.y: "2" is not of type "number""#),
        (
            json!(true),
            "$.at: true is not one of the accepted types: string, object, null",
        ),
    ] {
        let shown = error_text(&settle(&executor, "t", json!({"at": at})).await);
        assert_eq!(shown, format!("invalid arguments for t: {expected}"));
    }
}
