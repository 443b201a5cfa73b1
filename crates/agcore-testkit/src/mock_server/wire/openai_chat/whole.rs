//! Rendering a chat completion as a single body.

use serde_json::{Map, Value, json};

use crate::mock_server::{
    reply::{Answer, Finish, TokenUsage, ToolCall},
    wire::contract::ReplyMetadata,
};

/// The member that most compatible servers use for reasoning.
pub(super) const REASONING: &str = "reasoning_content";

pub(super) fn whole(answer: &Answer, metadata: &ReplyMetadata) -> Value {
    let mut body = head(answer, metadata, "chat.completion");
    body.insert(
        "choices".into(),
        json!([{
            "index": 0, "message": message(answer), "logprobs": null, "finish_reason": finish(&answer.finish()),
        }]),
    );
    if let Some(usage) = &metadata.usage {
        body.insert("usage".into(), self::usage(usage));
    }
    Value::Object(body)
}

/// Renders the leading members of a body or a chunk.
pub(super) fn head(answer: &Answer, metadata: &ReplyMetadata, object: &str) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("id".into(), json!(metadata.id("chatcmpl-")));
    head.insert("object".into(), json!(object));
    head.insert("created".into(), json!(metadata.created()));
    head.insert("model".into(), json!(metadata.model));
    head.extend(answer.extra.iter().cloned());
    head
}

fn message(answer: &Answer) -> Value {
    let (text, reasoning, refusal) = (answer.text(), answer.reasoning(), answer.refusal());
    let null_if_empty = |text: String| {
        if text.is_empty() {
            Value::Null
        } else {
            Value::String(text)
        }
    };
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    let may_omit_content = answer.calls().next().is_some() || !refusal.is_empty();
    let content = if may_omit_content {
        null_if_empty(text)
    } else {
        json!(text)
    };
    message.insert("content".into(), content);
    if !reasoning.is_empty() {
        message.insert(
            answer.reasoning_member.clone().unwrap_or_else(|| REASONING.into()),
            json!(reasoning),
        );
    }
    message.insert("refusal".into(), null_if_empty(refusal));
    let calls: Vec<Value> = answer.calls().map(call).collect();
    if !calls.is_empty() {
        message.insert("tool_calls".into(), json!(calls));
    }
    Value::Object(message)
}

fn call(call: &ToolCall) -> Value {
    json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": call.arguments } })
}

/// Returns OpenAI's finish reason. A refusal is reported as `stop`, with the text in the member `refusal`.
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
