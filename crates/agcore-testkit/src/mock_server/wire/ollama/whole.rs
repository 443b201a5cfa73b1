//! Rendering a chat reply as a single body.

use serde_json::{Map, Value, json};

use crate::mock_server::{
    reply::{Answer, Finish, ToolCall},
    wire::contract::ReplyMetadata,
};

/// The same time as [`ReplyMetadata::created`].
const CREATED_AT: &str = "2024-01-01T00:00:00Z";

pub(super) fn whole(answer: &Answer, metadata: &ReplyMetadata) -> Value {
    let mut message = assistant_message(&(answer.text() + &answer.refusal()));
    let reasoning = answer.reasoning();
    if !reasoning.is_empty() {
        message.insert("thinking".into(), json!(reasoning));
    }
    let calls: Vec<Value> = answer.calls().enumerate().map(|(at, item)| call(at, item)).collect();
    if !calls.is_empty() {
        message.insert("tool_calls".into(), json!(calls));
    }
    last_line(answer, metadata, message)
}

pub(super) fn assistant_message(content: &str) -> Map<String, Value> {
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    message.insert("content".into(), json!(content));
    message
}

/// Renders a line of a stream other than the last.
pub(super) fn line(answer: &Answer, metadata: &ReplyMetadata, message: Map<String, Value>) -> Map<String, Value> {
    let mut line = Map::new();
    line.insert("model".into(), json!(metadata.model));
    line.insert("created_at".into(), json!(CREATED_AT));
    line.insert("message".into(), Value::Object(message));
    line.insert("done".into(), json!(false));
    line.extend(answer.extra.iter().cloned());
    line
}

/// Renders the last line of a stream, which has the same members as a single body: the finish reason and the token
/// counts. Durations are in nanoseconds; the server reports zero.
pub(super) fn last_line(answer: &Answer, metadata: &ReplyMetadata, message: Map<String, Value>) -> Value {
    let mut last = line(answer, metadata, message);
    last.insert("done".into(), json!(true));
    last.insert("done_reason".into(), json!(done_reason(&answer.finish())));
    last.insert("total_duration".into(), json!(0));
    last.insert("load_duration".into(), json!(0));
    if let Some(usage) = &metadata.usage {
        last.insert("prompt_eval_count".into(), json!(usage.input));
        if let Some(cached) = usage.cached {
            last.insert("prompt_eval_cached_count".into(), json!(cached));
        }
        last.insert("prompt_eval_duration".into(), json!(0));
        last.insert("eval_count".into(), json!(usage.output));
        last.insert("eval_duration".into(), json!(0));
    }
    Value::Object(last)
}

/// Renders a call. Arguments are an object in this API: malformed JSON becomes a string, which Ollama would never send.
/// Older versions of Ollama send no ids.
pub(super) fn call(index: usize, call: &ToolCall) -> Value {
    let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
    let function = json!({ "index": index, "name": call.name, "arguments": arguments });
    if call.id.is_empty() {
        json!({ "function": function })
    } else {
        json!({ "id": call.id, "function": function })
    }
}

/// Returns Ollama's finish reason, which is `stop` even for tool calls.
fn done_reason(finish: &Finish) -> &str {
    match finish {
        Finish::Stop | Finish::ToolCalls | Finish::ContentFilter | Finish::Refusal => "stop",
        Finish::Length => "length",
        Finish::Other(reason) => reason,
    }
}
