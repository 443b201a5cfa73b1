//! Round trips of bodies of the Chat Completions API with every published member: no data is lost.

use agcore_chat::{ChatRequest, ChatResponse, Extra};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Number, Value};

/// Normalizes a body, so that only the following differences are ignored:
/// - members that are `null` are left out;
/// - empty lists of tools and calls are left out;
/// - an assistant message without text has `""`, `null` or no content; a single plain text part is a string;
/// - a whole number may be written as a float if the parameter is one.
fn normalize(body: Value) -> Value {
    match body {
        Value::Object(members) => Value::Object(normalize_object(members)),
        Value::Array(items) => items.into_iter().map(normalize).collect(),
        Value::Number(number) => Value::Number(whole(number)),
        other => other,
    }
}

fn normalize_object(mut members: Map<String, Value>) -> Map<String, Value> {
    if members.get("role").is_some_and(|role| role == "assistant") {
        let content = members.remove("content").unwrap_or_default();
        members.insert("content".into(), assistant_content(content));
    }
    let is_kept = |(name, value): &(String, Value)| {
        let empty_list = matches!(name.as_str(), "tools" | "tool_calls") && *value == Value::Array(vec![]);
        !value.is_null() && !empty_list
    };
    members
        .into_iter()
        .filter(is_kept)
        .map(|(name, value)| (name, normalize(value)))
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
        assert_eq!(normalize(value), normalize(raw.clone()));
        assert_eq!(
            serde_json::from_value::<T>(raw).unwrap(),
            typed,
            "a value and its text are read alike"
        );
        let again: T = serde_json::from_str(&written).unwrap();
        assert_eq!(again, typed);
        assert_eq!(
            serde_json::to_string(&again).unwrap(),
            written,
            "the second round trip is exact"
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
    assert_eq!(names, expected, "unknown members are kept in order");
}

#[test]
fn every_published_member_of_a_reply_has_a_field() {
    let names = |extra: &Extra| extra.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let bodies = include_str!("../fixtures/api/responses.json");
    let response = serde_json::from_str::<Vec<ChatResponse>>(bodies).unwrap().remove(0);
    // `object` is redundant; the other members are extensions of some servers.
    assert_eq!(names(&response.extra), ["object", "prompt_filter_results"]);
    let usage = response.usage.unwrap();
    assert_eq!(names(&usage.extra), ["cost"]);
    assert_eq!(names(&usage.prompt_tokens_details.extra), ["video_tokens"]);
    assert_eq!(names(&usage.completion_tokens_details.extra), ["image_tokens"]);
    assert_eq!(names(&response.choices[0].extra), [""; 0]);
    assert_eq!(names(&response.choices[0].message.extra), [""; 0]);
}
