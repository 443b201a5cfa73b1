//! Serialization of requests: optional fields, `extra_body`, and conflicts.

use agcore_chat::{ChatRequest, Message, ResponseFormat, StopSequence, Tool, ToolChoice, ToolDefinition};
use serde_json::{Value, json};

fn request() -> ChatRequest {
    ChatRequest::new([Message::user("Hi")])
}

fn body(request: &ChatRequest) -> Value {
    serde_json::to_value(request).unwrap()
}

#[test]
fn omits_fields_that_are_none_or_empty() {
    assert_eq!(
        body(&request()),
        json!({"messages": [{"role": "user", "content": "Hi"}]})
    );
    assert_eq!(body(&request().with_tools(Vec::new())), body(&request()));
}

/// Regression test: a tool choice was sent without tools.
#[test]
fn omits_tool_choices_without_tools() {
    let mut request = request().with_tool_choice(ToolChoice::Required);
    request.parallel_tool_calls = Some(true);
    assert_eq!(body(&request), body(&self::request()));
    let tools: Vec<Tool> = vec![ToolDefinition::new("look", "Looks", json!({"type": "object"})).into()];
    let body = body(&request.with_tools(tools));
    assert_eq!(
        (&body["tool_choice"], &body["parallel_tool_calls"]),
        (&json!("required"), &json!(true))
    );
}

/// Regression test: `extra_body` and `extra_headers` were nested members of the body.
#[test]
fn merges_extra_body_and_omits_extra_headers() {
    let request = request()
        .with_extra_body("top_k", 40)
        .with_extra_body("guided", json!({"a": null}))
        .with_extra_header("x-a", "b");
    let body = body(&request);
    assert_eq!(
        body,
        json!({"messages": [{"role": "user", "content": "Hi"}], "top_k": 40, "guided": {"a": null}})
    );
    let read: ChatRequest = serde_json::from_value(body).unwrap();
    assert_eq!(read.extra_body, request.extra_body);
    assert_eq!(read.extra_headers, []);
}

#[test]
fn rejects_extra_body_that_conflicts_with_a_field() {
    let every = include_str!("../fixtures/api/request_parameters.json");
    let every: Vec<Value> = serde_json::from_str(every).unwrap();
    let fields = every[0].as_object().unwrap().keys().map(String::as_str);
    let mut count = 0;
    for name in fields.chain(["tools", "tool_choice", "parallel_tool_calls"]) {
        let request = request().with_extra_body("fine", 1).with_extra_body(name, 1);
        assert_eq!(request.extra_body_clash(), Some(name));
        let error = serde_json::to_string(&request).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("extra_body must not contain `{name}`: set the request's field of that name instead")
        );
        count += 1;
    }
    assert_eq!(count, 33);
    assert_eq!(request().with_extra_body("fine", 1).extra_body_clash(), None);
}

/// Regression test: the members of the schema were beside the type.
#[test]
fn a_json_schema_format_is_nested_and_named() {
    let format = ResponseFormat::json_schema("weather", json!({"type": "object"}));
    let expected = json!({
        "type": "json_schema",
        "json_schema": {"name": "weather", "schema": {"type": "object"}, "strict": true},
    });
    assert_eq!(serde_json::to_value(&format).unwrap(), expected);
    assert_eq!(serde_json::from_value::<ResponseFormat>(expected).unwrap(), format);
    for (format, expected) in [
        (ResponseFormat::Text, "text"),
        (ResponseFormat::JsonObject, "json_object"),
    ] {
        assert_eq!(serde_json::to_value(&format).unwrap(), json!({"type": expected}));
        assert_eq!(
            serde_json::from_value::<ResponseFormat>(json!({"type": expected})).unwrap(),
            format
        );
    }
    for unknown in [
        json!({"type": "text", "x": 1}),
        json!({"type": "json_schema", "json_schema": {"name": "a"}, "x": 1}),
        json!({}),
    ] {
        let format: ResponseFormat = serde_json::from_value(unknown.clone()).unwrap();
        assert_eq!(format, ResponseFormat::Other(unknown.clone()));
        assert_eq!(serde_json::to_value(&format).unwrap(), unknown);
    }
}

/// Regression test: stop sequences were wrapped in an enum tag.
#[test]
fn stop_sequences_are_a_string_or_an_array() {
    for (stop, expected) in [
        (StopSequence::from("END"), json!("END")),
        (StopSequence::from_iter(["a", "b"]), json!(["a", "b"])),
        (StopSequence::Many(vec![]), json!([])),
    ] {
        assert_eq!(serde_json::to_value(&stop).unwrap(), expected);
        assert_eq!(serde_json::from_value::<StopSequence>(expected).unwrap(), stop);
    }
}

#[test]
fn schemas_keep_the_order_of_keys() {
    let text =
        r#"{"type":"object","properties":{"zebra":{},"ant":{}},"required":["zebra"],"additionalProperties":false}"#;
    let schema: Value = serde_json::from_str(text).unwrap();
    let tools: Vec<Tool> = vec![ToolDefinition::new("look", "Looks", schema.clone()).into()];
    let request = request()
        .with_tools(tools)
        .with_response_format(ResponseFormat::json_schema("x", schema));
    let body = serde_json::to_string(&request).unwrap();
    assert_eq!(body.matches(text).count(), 2);
    assert_eq!(
        serde_json::to_string(&serde_json::from_str::<ChatRequest>(&body).unwrap()).unwrap(),
        body
    );
}

#[test]
fn the_token_limit_has_one_name_at_a_time() {
    let mut request = request();
    assert_eq!(request.token_limit(), None);
    request.max_tokens = Some(5);
    assert_eq!(request.token_limit(), Some(5));
    let request = request.with_max_tokens(7);
    assert_eq!(
        (request.max_tokens, request.max_completion_tokens, request.token_limit()),
        (None, Some(7), Some(7))
    );
}

#[test]
fn clones_share_messages_and_tools() {
    let tools: Vec<Tool> = vec![ToolDefinition::new("look", "Looks", json!({})).into()];
    let request = request().with_tools(tools);
    let copy = request.clone();
    assert!(std::sync::Arc::ptr_eq(&request.messages[0], &copy.messages[0]));
    assert!(std::sync::Arc::ptr_eq(&request.tools, &copy.tools));
}
