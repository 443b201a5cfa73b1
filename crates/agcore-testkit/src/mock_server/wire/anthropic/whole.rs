//! A message in one body.

use serde_json::{Map, Value, json};

use super::super::super::answer::{Answer, Block, Finish};
use super::super::super::call::ToolCall;
use super::super::super::usage::TokenUsage;
use super::super::stamp::Stamp;

pub(super) fn whole(answer: &Answer, stamp: &Stamp) -> Value {
    let content: Vec<Value> = answer.blocks.iter().map(block).collect();
    message(
        stamp,
        &json!(content),
        &json!(stop_reason(&answer.finish())),
        stamp.usage.as_ref().map(usage),
    )
}

/// A message object; a stream begins with one that has no content yet.
pub(super) fn message(stamp: &Stamp, content: &Value, stop: &Value, usage: Option<Value>) -> Value {
    let mut message = Map::new();
    message.insert("id".into(), json!(stamp.id("msg_")));
    message.insert("type".into(), json!("message"));
    message.insert("role".into(), json!("assistant"));
    message.insert("model".into(), json!(stamp.model));
    message.insert("content".into(), content.clone());
    message.insert("stop_reason".into(), stop.clone());
    message.insert("stop_sequence".into(), Value::Null);
    if let Some(usage) = usage {
        message.insert("usage".into(), usage);
    }
    Value::Object(message)
}

fn block(block: &Block) -> Value {
    match block {
        Block::Text(text) | Block::Refusal(text) => json!({ "type": "text", "text": text }),
        Block::Reasoning { text, seal } => {
            json!({ "type": "thinking", "thinking": text, "signature": seal.as_deref().unwrap_or_default() })
        }
        Block::Redacted(data) => json!({ "type": "redacted_thinking", "data": data }),
        Block::Call(call) => tool_use(call, &input(call)),
    }
}

pub(super) fn tool_use(call: &ToolCall, input: &Value) -> Value {
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
}

/// The arguments as a value; a text that is no JSON stays a string, which no vendor would send.
fn input(call: &ToolCall) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments))
}

pub(super) fn stop_reason(finish: &Finish) -> &str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Length => "max_tokens",
        Finish::ToolCalls => "tool_use",
        Finish::ContentFilter | Finish::Refusal => "refusal",
        Finish::Other(reason) => reason,
    }
}

/// `input_tokens` leaves out what was read from or written to the cache (docs.anthropic.com, "Prompt caching").
pub(super) fn usage(usage: &TokenUsage) -> Value {
    json!({
        "input_tokens": usage.uncached(),
        "cache_creation_input_tokens": usage.cache_write.unwrap_or(0),
        "cache_read_input_tokens": usage.cached.unwrap_or(0),
        "output_tokens": usage.output,
    })
}
