//! Rendering a reply as a single body.

use serde_json::{Map, Value, json};

use crate::mock_server::{
    reply::{Answer, Block, Finish, TokenUsage},
    wire::contract::ReplyMetadata,
};

pub(super) fn whole(answer: &Answer, metadata: &ReplyMetadata) -> Value {
    let content: Vec<Value> = answer.blocks.iter().map(block).collect();
    let mut body = Map::new();
    body.insert("metrics".into(), metrics());
    body.insert(
        "output".into(),
        json!({ "message": { "content": content, "role": "assistant" } }),
    );
    body.insert("stopReason".into(), json!(stop_reason(&answer.finish())));
    if let Some(counts) = &metadata.usage {
        body.insert("usage".into(), usage(counts));
    }
    body.extend(answer.extra.iter().cloned());
    Value::Object(body)
}

/// Renders a content block. The API reports refusals as text. Malformed arguments become a string, which it would never send.
fn block(block: &Block) -> Value {
    match block {
        Block::Text(text) | Block::Refusal(text) => json!({ "text": text }),
        Block::Reasoning { text, signature } => {
            let mut reasoning = json!({ "text": text });
            if let Some(signature) = signature {
                reasoning["signature"] = json!(signature);
            }
            json!({ "reasoningContent": { "reasoningText": reasoning } })
        }
        Block::Redacted(data) => json!({ "reasoningContent": { "redactedContent": data } }),
        Block::Call(call) => {
            let input = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
            json!({ "toolUse": { "input": input, "name": call.name, "toolUseId": call.id } })
        }
    }
}

/// Returns measurements. The server does not read a clock, so all replies have the same.
pub(super) fn metrics() -> Value {
    json!({ "latencyMs": 100 })
}

pub(super) fn stop_reason(finish: &Finish) -> &str {
    match finish {
        Finish::Stop | Finish::Refusal => "end_turn",
        Finish::Length => "max_tokens",
        Finish::ToolCalls => "tool_use",
        Finish::ContentFilter => "content_filtered",
        Finish::Other(reason) => reason,
    }
}

/// Renders the token counts. `inputTokens` excludes tokens read from or written to the cache, and the total includes them.
pub(super) fn usage(usage: &TokenUsage) -> Value {
    let mut counts = json!({
        "inputTokens": usage.uncached(), "outputTokens": usage.output, "totalTokens": usage.input + usage.output,
    });
    for (name, count) in [
        ("cacheReadInputTokens", usage.cached),
        ("cacheWriteInputTokens", usage.cache_write),
    ] {
        if let Some(count) = count {
            counts[name] = json!(count);
        }
    }
    counts
}
