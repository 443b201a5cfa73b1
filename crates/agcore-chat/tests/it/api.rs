//! Bodies of the Chat Completions API, every member of its published shapes: read and written again, nothing is lost.

use agcore_chat::{ChatChunk, ChatRequest, ChatResponse, Extra};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Number, Value};

/// What may change on the way, and nothing else:
/// - members that are `null` are left out;
/// - empty lists of tools and calls are left out;
/// - an assistant message without text says so by `""`, `null` or no member; its one plain text part is a string;
/// - a whole number may be written as a float where the parameter is one.
fn normal(body: Value) -> Value {
    match body {
        Value::Object(members) => Value::Object(object(members)),
        Value::Array(items) => items.into_iter().map(normal).collect(),
        Value::Number(number) => Value::Number(whole(number)),
        other => other,
    }
}

fn object(mut members: Map<String, Value>) -> Map<String, Value> {
    if members.get("role").is_some_and(|role| role == "assistant") {
        let content = members.remove("content").unwrap_or_default();
        members.insert("content".into(), assistant_content(content));
    }
    let dropped = |(name, value): &(String, Value)| {
        let empty_list = matches!(name.as_str(), "tools" | "tool_calls") && *value == Value::Array(vec![]);
        !value.is_null() && !empty_list
    };
    members
        .into_iter()
        .filter(dropped)
        .map(|(name, value)| (name, normal(value)))
        .collect()
}

fn assistant_content(content: Value) -> Value {
    let one_text = |part: &Value| {
        let part = part
            .as_object()
            .filter(|part| part.len() == 2 && part["type"] == "text")?;
        part.get("text").cloned()
    };
    match &content {
        Value::String(text) if text.is_empty() => Value::Null,
        Value::Array(parts) if parts.len() == 1 => one_text(&parts[0]).unwrap_or(content),
        _ => content,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the float is whole and small")]
fn whole(number: Number) -> Number {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => (float as i64).into(),
        _ => number,
    }
}

#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(bodies: &str) {
    let raw: Vec<Value> = serde_json::from_str(bodies).unwrap();
    let typed: Vec<T> = serde_json::from_str(bodies).unwrap();
    assert!(!raw.is_empty());
    for (raw, typed) in raw.into_iter().zip(typed) {
        let written = serde_json::to_string(&typed).unwrap();
        let value: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(normal(value), normal(raw.clone()));
        assert_eq!(
            serde_json::from_value::<T>(raw).unwrap(),
            typed,
            "a value reads like its text"
        );
        let again: T = serde_json::from_str(&written).unwrap();
        assert_eq!(again, typed);
        assert_eq!(
            serde_json::to_string(&again).unwrap(),
            written,
            "the second time, byte for byte"
        );
    }
}

#[test]
fn requests_keep_every_parameter() {
    check::<ChatRequest>(include_str!("../fixtures/api/request_parameters.json"));
}

#[test]
fn requests_keep_every_response_format() {
    check::<ChatRequest>(include_str!("../fixtures/api/request_formats.json"));
}

#[test]
fn requests_keep_every_message_and_part() {
    check::<ChatRequest>(include_str!("../fixtures/api/request_messages.json"));
}

#[test]
fn requests_keep_every_tool_and_choice() {
    check::<ChatRequest>(include_str!("../fixtures/api/request_tools.json"));
}

#[test]
fn responses_keep_every_member() {
    check::<ChatResponse>(include_str!("../fixtures/api/responses.json"));
}

#[test]
fn chunks_keep_every_member() {
    check::<ChatChunk>(include_str!("../fixtures/api/chunks.json"));
}

#[test]
fn every_published_parameter_has_a_field() {
    let bodies = include_str!("../fixtures/api/request_parameters.json");
    let first = serde_json::from_str::<Vec<ChatRequest>>(bodies).unwrap().remove(0);
    assert!(first.extra_body.is_empty(), "{:?}", first.extra_body);
    let second = serde_json::from_str::<Vec<ChatRequest>>(bodies).unwrap().remove(1);
    let names: Vec<_> = second.extra_body.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "stop_sequences_of_another_vendor",
        "functions",
        "function_call",
        "top_k",
        "thinking",
        "chat_template_kwargs",
    ];
    assert_eq!(names, expected, "what has no field is kept, in its order");
}

#[test]
fn every_published_member_of_a_reply_has_a_field() {
    let names = |extra: &Extra| extra.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let bodies = include_str!("../fixtures/api/responses.json");
    let response = serde_json::from_str::<Vec<ChatResponse>>(bodies).unwrap().remove(0);
    // `object` says nothing that the type does not; the rest is other servers' own.
    assert_eq!(names(&response.extra), ["object", "prompt_filter_results"]);
    let usage = response.usage.unwrap();
    assert_eq!(names(&usage.extra), ["cost"]);
    assert_eq!(names(&usage.prompt_tokens_details.extra), ["video_tokens"]);
    assert_eq!(names(&usage.completion_tokens_details.extra), ["image_tokens"]);
    assert_eq!(names(&response.choices[0].extra), [""; 0]);
    assert_eq!(names(&response.choices[0].message.extra), [""; 0]);

    let bodies = include_str!("../fixtures/api/chunks.json");
    let chunks: Vec<ChatChunk> = serde_json::from_str(bodies).unwrap();
    assert_eq!(names(&chunks[0].extra), ["object", "obfuscation"]);
    assert_eq!(names(&chunks[1].choices[0].extra), [""; 0]);
    for chunk in chunks
        .iter()
        .take(6)
        .filter(|chunk| chunk.choices[0].delta.reasoning_content.is_none())
    {
        let delta = &chunk.choices[0].delta;
        assert_eq!(names(&delta.extra), [""; 0]);
        for call in &delta.tool_calls {
            assert_eq!(names(&call.extra), [""; 0]);
        }
    }
}
