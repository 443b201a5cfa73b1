//! Full JSON Schema validation, with the feature `schema`.

use agcore_chat::SchemaCheck;
use agcore_tools::{NoArguments, SchemaValidator, ToolErrorKind, ToolRegistry, typed};
use serde_json::{Value, json};

use crate::support::{Echo, call, context, error_text, executor_of, registry, settle, text};

fn trip() -> Value {
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
async fn arguments_are_checked_before_the_tool_runs() {
    let tool = Echo::new("trip").parameters(trip());
    let executor = executor_of([tool.clone()]).build().unwrap();
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
        (
            json!({"days": [], "x": 1}),
            "$: Additional properties are not allowed ('x' was unexpected)",
        ),
    ] {
        let told = error_text(&settle(&executor, "trip", arguments).await);
        assert_eq!(told, format!("invalid arguments for trip: {expected}"));
    }
    assert_eq!(tool.count(), 0);
    text(&settle(&executor, "trip", json!({"days": [{"city": "Rome"}]})).await);
}

#[tokio::test]
async fn many_violations_are_cut_and_long_values_are_not_quoted_whole() {
    let executor = executor_of([Echo::new("trip").parameters(trip())]).build().unwrap();
    let days: Vec<_> = (0..100).map(|_| json!({"city": ["x".repeat(1000)]})).collect();
    let told = error_text(&settle(&executor, "trip", json!({"days": days})).await);
    assert!(told.len() < 4200, "{}", told.len());
    let done = registry([Echo::new("trip").parameters(trip())])
        .invoke(call("c", "trip", &json!({"days": vec![json!(1); 100]})), &context())
        .await;
    assert_eq!(done.result.unwrap_err().violations().len(), 16);
}

#[test]
fn schemas_that_cannot_be_used_are_refused_at_registration() {
    for (schema, why) in [
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
        (json!({"type": "object", "properties": {"a": {"pattern": "("}}}), "("),
    ] {
        let error = ToolRegistry::new()
            .register(Echo::new("t").parameters(schema.clone()))
            .expect_err("refused");
        assert_eq!(error.kind(), ToolErrorKind::Config);
        assert!(error.message().contains(why), "{schema}: {error}");
    }
}

#[tokio::test]
async fn unknown_keywords_say_nothing() {
    let schema = json!({"type": "object", "x-vendor": {"a": 1}, "properties": {"a": {"format": "house-number"}}});
    let executor = executor_of([Echo::new("t").parameters(schema)]).build().unwrap();
    text(&settle(&executor, "t", json!({"a": "b"})).await);
}

#[tokio::test]
async fn hostile_patterns_and_deep_values_take_no_time() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}});
    let executor = executor_of([Echo::new("t").parameters(schema)]).build().unwrap();
    // An engine that backtracks would not come back from this.
    error_text(&settle(&executor, "t", json!({"a": format!("{}!", "a".repeat(100_000))})).await);

    let mut deep = json!({"city": "Rome"});
    for _ in 0..50 {
        deep = json!({"city": "Rome", "then": deep});
    }
    let executor = executor_of([Echo::new("trip").parameters(trip())]).build().unwrap();
    text(&settle(&executor, "trip", json!({"days": [deep]})).await);
}

#[tokio::test]
async fn results_that_violate_the_tools_own_schema() {
    for (degrees, fits) in [(json!(21), true), (json!("warm"), false)] {
        let tool = typed("weather", "Weather.", move |_: NoArguments| {
            let degrees = degrees.clone();
            async move { Ok(json!({"degrees": degrees})) }
        })
        .with_output_schema(json!({"type": "object", "properties": {"degrees": {"type": "number"}}}));
        let tools = registry([tool]);
        let executor = tools.executor(context()).build().unwrap();
        let outcome = settle(&executor, "weather", json!({})).await;
        if fits {
            text(&outcome);
            continue;
        }
        assert_eq!(
            error_text(&outcome),
            "the tool gave back a value of the wrong form, which was thrown away; it ran all the same"
        );
        let error = tools
            .invoke(call("c", "weather", &json!({})), &context())
            .await
            .result
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"weather gave back a value that violates its own output schema: $.degrees: "warm" is not of type "number""#
        );
    }
}

#[test]
fn the_check_for_typed_output() {
    let check = |schema: Value, value: Value| SchemaValidator::new().check(&schema, &value);
    assert!(check(trip(), json!({"days": []})).is_ok());
    let violations = check(trip(), json!({"days": [1, {}]})).unwrap_err();
    let paths: Vec<_> = violations.iter().map(|violation| violation.path.as_str()).collect();
    assert_eq!(paths, ["$.days[0]", "$.days[1]"]);
    let wrong = check(json!({"type": 7}), json!(1)).unwrap_err();
    assert_eq!((wrong.len(), wrong[0].path.as_str()), (1, "$"));
    assert!(
        wrong[0].message.starts_with("the schema itself is wrong"),
        "{}",
        wrong[0]
    );
}
