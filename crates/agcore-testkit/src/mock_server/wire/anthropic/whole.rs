//! Rendering a message as a single body.

use serde_json::{Map, Value, json};

use crate::mock_server::{
    reply::{Answer, Block, Finish, TokenUsage, ToolCall},
    wire::contract::ReplyMetadata,
};

pub(super) fn whole(answer: &Answer, metadata: &ReplyMetadata) -> Value {
    let content: Vec<Value> = answer.blocks.iter().filter_map(block).collect();
    let mut message = message(
        metadata,
        &json!(content),
        &json!(stop_reason(&answer.finish())),
        metadata.usage.as_ref().map(usage),
    );
    if let Some(details) = stop_details(answer) {
        message["stop_details"] = details;
    }
    message
}

/// Renders a message object. A stream starts with one that has no content yet.
pub(super) fn message(metadata: &ReplyMetadata, content: &Value, stop: &Value, usage: Option<Value>) -> Value {
    let mut message = Map::new();
    message.insert("id".into(), json!(metadata.id("msg_")));
    message.insert("type".into(), json!("message"));
    message.insert("role".into(), json!("assistant"));
    message.insert("model".into(), json!(metadata.model));
    message.insert("content".into(), content.clone());
    message.insert("stop_reason".into(), stop.clone());
    message.insert("stop_sequence".into(), Value::Null);
    if let Some(usage) = usage {
        message.insert("usage".into(), usage);
    }
    Value::Object(message)
}

/// Renders a content block. A refusal is reported in [`stop_details`] instead.
fn block(block: &Block) -> Option<Value> {
    Some(match block {
        Block::Refusal(_) => return None,
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Reasoning { text, signature } => {
            json!({ "type": "thinking", "thinking": text, "signature": signature.as_deref().unwrap_or_default() })
        }
        Block::Redacted(data) => json!({ "type": "redacted_thinking", "data": data }),
        Block::Call(call) => tool_use(call, &input(call)),
    })
}

/// Renders the reason for a refusal (`RefusalStopDetails` in the vendor's SDK).
pub(super) fn stop_details(answer: &Answer) -> Option<Value> {
    let refusal = answer.blocks.iter().find_map(|block| match block {
        Block::Refusal(text) => Some(text),
        _ => None,
    });
    refusal.map(|text| json!({ "type": "refusal", "category": null, "explanation": text }))
}

pub(super) fn tool_use(call: &ToolCall, input: &Value) -> Value {
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
}

/// Returns the arguments as a value. Malformed JSON becomes a string, which a real server would never send.
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

/// Renders the token counts. `input_tokens` excludes tokens read from or written to the cache (docs.anthropic.com,
/// "Prompt caching").
pub(super) fn usage(usage: &TokenUsage) -> Value {
    let mut counts = Map::new();
    counts.insert("input_tokens".into(), json!(usage.uncached()));
    counts.insert(
        "cache_creation_input_tokens".into(),
        json!(usage.cache_write.unwrap_or(0)),
    );
    counts.insert("cache_read_input_tokens".into(), json!(usage.cached.unwrap_or(0)));
    if let Value::Object(generated) = output(usage) {
        counts.extend(generated);
    }
    Value::Object(counts)
}

/// Renders the counts of generated tokens, which include reasoning (`OutputTokensDetails` in the vendor's SDK).
pub(super) fn output(usage: &TokenUsage) -> Value {
    let mut counts = json!({ "output_tokens": usage.output });
    if let Some(tokens) = usage.reasoning {
        counts["output_tokens_details"] = json!({ "thinking_tokens": tokens });
    }
    counts
}
