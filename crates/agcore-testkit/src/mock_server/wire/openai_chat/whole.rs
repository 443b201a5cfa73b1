//! A chat completion in one body.

use serde_json::{Map, Value, json};

use super::super::super::answer::{Answer, Finish};
use super::super::super::call::ToolCall;
use super::super::super::usage::TokenUsage;
use super::super::stamp::Stamp;

/// The member for reasoning that most compatible servers use.
pub(super) const REASONING: &str = "reasoning_content";

pub(super) fn whole(answer: &Answer, stamp: &Stamp) -> Value {
    let mut body = head(answer, stamp, "chat.completion");
    body.insert(
        "choices".into(),
        json!([{
            "index": 0, "message": message(answer), "logprobs": null, "finish_reason": finish(&answer.finish()),
        }]),
    );
    if let Some(usage) = &stamp.usage {
        body.insert("usage".into(), self::usage(usage));
    }
    Value::Object(body)
}

/// The members that a body and every chunk begin with.
pub(super) fn head(answer: &Answer, stamp: &Stamp, object: &str) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("id".into(), json!(stamp.id("chatcmpl-")));
    head.insert("object".into(), json!(object));
    head.insert("created".into(), json!(stamp.created()));
    head.insert("model".into(), json!(stamp.model));
    head.extend(answer.extra.iter().cloned());
    head
}

fn message(answer: &Answer) -> Value {
    let (text, reasoning, refusal) = (answer.text(), answer.reasoning(), answer.refusal());
    let some = |text: String| {
        if text.is_empty() {
            Value::Null
        } else {
            Value::String(text)
        }
    };
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    let silent = answer.calls().next().is_some() || !refusal.is_empty();
    message.insert("content".into(), if silent { some(text) } else { json!(text) });
    if !reasoning.is_empty() {
        message.insert(
            answer.reasoning_member.clone().unwrap_or_else(|| REASONING.into()),
            json!(reasoning),
        );
    }
    message.insert("refusal".into(), some(refusal));
    let calls: Vec<Value> = answer.calls().map(call).collect();
    if !calls.is_empty() {
        message.insert("tool_calls".into(), json!(calls));
    }
    Value::Object(message)
}

fn call(call: &ToolCall) -> Value {
    json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": call.arguments } })
}

/// OpenAI reports a refusal as a stop with the member `refusal` filled.
pub(super) fn finish(finish: &Finish) -> &str {
    match finish {
        Finish::Stop | Finish::Refusal => "stop",
        Finish::Length => "length",
        Finish::ToolCalls => "tool_calls",
        Finish::ContentFilter => "content_filter",
        Finish::Other(reason) => reason,
    }
}

pub(super) fn usage(usage: &TokenUsage) -> Value {
    let mut counts = Map::new();
    counts.insert("prompt_tokens".into(), json!(usage.input));
    counts.insert("completion_tokens".into(), json!(usage.output));
    counts.insert("total_tokens".into(), json!(usage.total()));
    if let Some(cached) = usage.cached {
        counts.insert("prompt_tokens_details".into(), json!({ "cached_tokens": cached }));
    }
    if let Some(reasoning) = usage.reasoning {
        counts.insert(
            "completion_tokens_details".into(),
            json!({ "reasoning_tokens": reasoning }),
        );
    }
    Value::Object(counts)
}
