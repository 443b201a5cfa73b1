//! A chat reply in one body.

use serde_json::{Map, Value, json};

use super::super::super::answer::{Answer, Finish};
use super::super::super::call::ToolCall;
use super::super::stamp::Stamp;

/// The moment that [`Stamp::created`] gives in seconds.
const CREATED_AT: &str = "2024-01-01T00:00:00Z";

pub(super) fn whole(answer: &Answer, stamp: &Stamp) -> Value {
    let mut message = said(&(answer.text() + &answer.refusal()));
    let reasoning = answer.reasoning();
    if !reasoning.is_empty() {
        message.insert("thinking".into(), json!(reasoning));
    }
    let calls: Vec<Value> = answer.calls().enumerate().map(call).collect();
    if !calls.is_empty() {
        message.insert("tool_calls".into(), json!(calls));
    }
    last_line(answer, stamp, message)
}

/// A message of the assistant.
pub(super) fn said(content: &str) -> Map<String, Value> {
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    message.insert("content".into(), json!(content));
    message
}

/// A line of a stream that is not its last.
pub(super) fn line(answer: &Answer, stamp: &Stamp, message: Map<String, Value>) -> Map<String, Value> {
    let mut line = Map::new();
    line.insert("model".into(), json!(stamp.model));
    line.insert("created_at".into(), json!(CREATED_AT));
    line.insert("message".into(), Value::Object(message));
    line.insert("done".into(), json!(false));
    line.extend(answer.extra.iter().cloned());
    line
}

/// The last line, which is also the whole body: with reason and counts. Durations are in nanoseconds, and none passed.
pub(super) fn last_line(answer: &Answer, stamp: &Stamp, message: Map<String, Value>) -> Value {
    let mut last = line(answer, stamp, message);
    last.insert("done".into(), json!(true));
    last.insert("done_reason".into(), json!(done_reason(&answer.finish())));
    last.insert("total_duration".into(), json!(0));
    last.insert("load_duration".into(), json!(0));
    if let Some(usage) = &stamp.usage {
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

/// Arguments are an object on this wire; a text that is no JSON stays a string, which Ollama would not send. A call
/// without an id is one of a server before it gave ids.
pub(super) fn call((index, call): (usize, &ToolCall)) -> Value {
    let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
    let function = json!({ "index": index, "name": call.name, "arguments": arguments });
    if call.id.is_empty() {
        json!({ "function": function })
    } else {
        json!({ "id": call.id, "function": function })
    }
}

/// Calls end with `stop`, too.
fn done_reason(finish: &Finish) -> &str {
    match finish {
        Finish::Stop | Finish::ToolCalls | Finish::ContentFilter | Finish::Refusal => "stop",
        Finish::Length => "length",
        Finish::Other(reason) => reason,
    }
}
