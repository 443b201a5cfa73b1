//! Responses: optional members, accessors, finish reasons that keep their text.

use agcore_chat::{AnsweredBy, ChatResponse, FinishReason, ResponseMetadata};
use serde_json::json;

#[test]
fn every_member_is_optional() {
    let empty: ChatResponse = serde_json::from_str("{}").unwrap();
    assert_eq!(empty, ChatResponse::default());
    assert_eq!(
        (empty.message(), &*empty.text(), empty.finish_reason()),
        (None, "", None)
    );
    assert_eq!(empty.tool_calls().count(), 0);
    let nulls = r#"{"id": null, "choices": [{"message": null, "finish_reason": null}], "usage": {"prompt_tokens": null, "prompt_tokens_details": null}}"#;
    let read: ChatResponse = serde_json::from_str(nulls).unwrap();
    assert_eq!(read.usage.unwrap().prompt_tokens, None);
    assert_eq!(
        serde_json::from_str::<ChatResponse>("{\"choices\": null}").unwrap(),
        ChatResponse::default()
    );
}

#[test]
fn accessors_return_the_first_choice() {
    let response: ChatResponse = serde_json::from_value(json!({"choices": [
        {"index": 0, "message": {"content": "Hi", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}, "finish_reason": "tool_calls"},
        {"index": 1, "message": {"content": "Ho"}, "finish_reason": "stop"},
    ]}))
    .unwrap();
    assert_eq!(response.text(), "Hi");
    assert_eq!(
        response.tool_calls().map(|call| call.id.as_str()).collect::<Vec<_>>(),
        ["a"]
    );
    assert_eq!(response.finish_reason(), Some(&FinishReason::ToolCalls));
}

#[test]
fn finish_reasons_keep_their_text() {
    for reason in [
        "stop",
        "length",
        "tool_calls",
        "content_filter",
        "function_call",
        "refusal",
        "eos",
        "STOP",
        "",
    ] {
        let read: FinishReason = serde_json::from_value(json!(reason)).unwrap();
        assert_eq!((read.as_str(), read.to_string()), (reason, reason.to_owned()));
        assert_eq!(serde_json::to_value(&read).unwrap(), reason);
        let known = !matches!(reason, "eos" | "STOP" | "");
        assert_eq!(matches!(read, FinishReason::Other(_)), !known);
    }
}

#[test]
fn the_provider_that_answered_is_in_the_extension_member() {
    let mut response = ChatResponse {
        answered_by: Some(AnsweredBy::new("openai", "gpt-5").with_key("work")),
        ..ChatResponse::default()
    };
    let written = serde_json::to_value(&response).unwrap();
    assert_eq!(
        written,
        json!({"choices": [], "agcore": {"provider": "openai", "model": "gpt-5", "key": "work"}})
    );
    assert_eq!(serde_json::from_value::<ChatResponse>(written).unwrap(), response);
    response.answered_by = None;
    assert_eq!(serde_json::to_value(&response).unwrap(), json!({"choices": []}));
}

#[test]
fn headers_are_in_the_extension_beside_who_answered() {
    let metadata = ResponseMetadata::new([("x-request-id", "req_1")]);
    let check = |answered_by: Option<AnsweredBy>, expected: serde_json::Value| {
        let response = ChatResponse {
            answered_by,
            metadata: Some(metadata.clone()),
            ..ChatResponse::default()
        };
        let json = serde_json::to_value(&response).unwrap();
        assert_eq!(json, json!({"choices": [], "agcore": expected}));
        assert_eq!(serde_json::from_value::<ChatResponse>(json).unwrap(), response);
    };
    check(None, json!({"headers": {"x-request-id": "req_1"}}));
    check(
        Some(AnsweredBy::new("openai", "gpt")),
        json!({"provider": "openai", "model": "gpt", "headers": {"x-request-id": "req_1"}}),
    );
    let half = r#"{"choices": [], "agcore": {"provider": "openai"}}"#;
    let error = serde_json::from_str::<ChatResponse>(half).unwrap_err();
    assert!(error.to_string().contains("missing field `model`"), "{error}");
}
