//! Rendering a response as a single body.

use serde_json::{Map, Value, json};

use crate::mock_server::{
    reply::{Answer, Block, Finish, TokenUsage},
    wire::contract::ReplyMetadata,
};

pub(super) fn whole(answer: &Answer, metadata: &ReplyMetadata) -> Value {
    let items: Vec<Value> = answer
        .blocks
        .iter()
        .enumerate()
        .map(|(index, block)| item(block, &item_id(block, index, metadata)))
        .collect();
    let finish = answer.finish();
    let incomplete = incomplete_reason(&finish);
    let status = if incomplete.is_some() {
        "incomplete"
    } else {
        "completed"
    };
    response(metadata, status, incomplete, &json!(items))
}

/// Renders a response object. A stream starts with one that is in progress.
pub(super) fn response(metadata: &ReplyMetadata, status: &str, incomplete: Option<&str>, output: &Value) -> Value {
    let counts = metadata.usage.as_ref().filter(|_| status != "in_progress");
    json!({
        "id": metadata.id("resp_"), "object": "response", "created_at": metadata.created(), "status": status,
        "error": null, "incomplete_details": incomplete.map(|reason| json!({ "reason": reason })),
        "model": metadata.model, "output": output, "parallel_tool_calls": true, "tool_choice": "auto",
        "tools": [], "usage": counts.map(usage),
    })
}

/// Returns the reason why the response is incomplete, or `None` if it is complete.
pub(super) fn incomplete_reason(finish: &Finish) -> Option<&str> {
    match finish {
        Finish::Stop | Finish::ToolCalls | Finish::Refusal => None,
        Finish::Length => Some("max_output_tokens"),
        Finish::ContentFilter => Some("content_filter"),
        Finish::Other(reason) => Some(reason),
    }
}

pub(super) fn item_id(block: &Block, index: usize, metadata: &ReplyMetadata) -> String {
    let prefix = match block {
        Block::Text(_) | Block::Refusal(_) => "msg_",
        Block::Reasoning { .. } | Block::Redacted(_) => "rs_",
        Block::Call(_) => "fc_",
    };
    format!("{}_{index}", metadata.part_id(prefix))
}

/// Renders a finished item.
pub(super) fn item(block: &Block, id: &str) -> Value {
    match block {
        Block::Text(_) | Block::Refusal(_) => message(id, "completed", &json!([part(block, None)])),
        Block::Reasoning { text, signature } => {
            let summary = if text.is_empty() {
                json!([])
            } else {
                json!([part(block, None)])
            };
            reasoning(id, &summary, signature.as_ref())
        }
        Block::Redacted(data) => reasoning(id, &json!([]), Some(data)),
        Block::Call(call) => json!({
            "id": id, "type": "function_call", "status": "completed", "call_id": call.id, "name": call.name,
            "arguments": call.arguments,
        }),
    }
}

pub(super) fn message(id: &str, status: &str, content: &Value) -> Value {
    json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": content })
}

pub(super) fn reasoning(id: &str, summary: &Value, encrypted: Option<&String>) -> Value {
    let mut item = Map::new();
    item.insert("id".into(), json!(id));
    item.insert("type".into(), json!("reasoning"));
    item.insert("summary".into(), summary.clone());
    if let Some(content) = encrypted {
        item.insert("encrypted_content".into(), json!(content));
    }
    Value::Object(item)
}

/// Renders the part that contains a block's text, or `replacement` instead of it.
pub(super) fn part(block: &Block, replacement: Option<&str>) -> Value {
    let content = |text: &str| replacement.unwrap_or(text).to_owned();
    match block {
        Block::Text(text) => json!({ "type": "output_text", "annotations": [], "text": content(text) }),
        Block::Refusal(text) => json!({ "type": "refusal", "refusal": content(text) }),
        Block::Reasoning { text, .. } => json!({ "type": "summary_text", "text": content(text) }),
        Block::Redacted(_) | Block::Call(_) => Value::Null,
    }
}

fn usage(usage: &TokenUsage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": { "cached_tokens": usage.cached.unwrap_or(0) },
        "output_tokens": usage.output,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning.unwrap_or(0) },
        "total_tokens": usage.total(),
    })
}
