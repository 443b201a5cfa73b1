//! A response in one body.

use serde_json::{Map, Value, json};

use super::super::super::answer::{Answer, Block, Finish};
use super::super::super::usage::TokenUsage;
use super::super::stamp::Stamp;

pub(super) fn whole(answer: &Answer, stamp: &Stamp) -> Value {
    let items: Vec<Value> = answer
        .blocks
        .iter()
        .enumerate()
        .map(|(index, block)| item(block, &item_id(block, index, stamp)))
        .collect();
    let finish = answer.finish();
    let cut = cut_reason(&finish);
    let status = if cut.is_some() { "incomplete" } else { "completed" };
    response(stamp, status, cut, &json!(items))
}

/// A response object; a stream begins with one in progress.
pub(super) fn response(stamp: &Stamp, status: &str, cut: Option<&str>, output: &Value) -> Value {
    let counts = stamp.usage.as_ref().filter(|_| status != "in_progress");
    json!({
        "id": stamp.id("resp_"), "object": "response", "created_at": stamp.created(), "status": status,
        "error": null, "incomplete_details": cut.map(|reason| json!({ "reason": reason })),
        "model": stamp.model, "output": output, "parallel_tool_calls": true, "tool_choice": "auto",
        "tools": [], "usage": counts.map(usage),
    })
}

/// Why the response is incomplete; `None` when it is complete.
pub(super) fn cut_reason(finish: &Finish) -> Option<&str> {
    match finish {
        Finish::Stop | Finish::ToolCalls | Finish::Refusal => None,
        Finish::Length => Some("max_output_tokens"),
        Finish::ContentFilter => Some("content_filter"),
        Finish::Other(reason) => Some(reason),
    }
}

pub(super) fn item_id(block: &Block, index: usize, stamp: &Stamp) -> String {
    let prefix = match block {
        Block::Text(_) | Block::Refusal(_) => "msg_",
        Block::Reasoning { .. } | Block::Redacted(_) => "rs_",
        Block::Call(_) => "fc_",
    };
    format!("{}_{index}", stamp.part_id(prefix))
}

/// A finished item.
pub(super) fn item(block: &Block, id: &str) -> Value {
    match block {
        Block::Text(_) | Block::Refusal(_) => message(id, "completed", &json!([part(block, None)])),
        Block::Reasoning { text, seal } => {
            let summary = if text.is_empty() {
                json!([])
            } else {
                json!([part(block, None)])
            };
            reasoning(id, &summary, seal.as_ref())
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

pub(super) fn reasoning(id: &str, summary: &Value, seal: Option<&String>) -> Value {
    let mut item = Map::new();
    item.insert("id".into(), json!(id));
    item.insert("type".into(), json!("reasoning"));
    item.insert("summary".into(), summary.clone());
    if let Some(seal) = seal {
        item.insert("encrypted_content".into(), json!(seal));
    }
    Value::Object(item)
}

/// The part that holds a block's text, or `instead` of it.
pub(super) fn part(block: &Block, instead: Option<&str>) -> Value {
    let or = |text: &str| instead.unwrap_or(text).to_owned();
    match block {
        Block::Text(text) => json!({ "type": "output_text", "annotations": [], "text": or(text) }),
        Block::Refusal(text) => json!({ "type": "refusal", "refusal": or(text) }),
        Block::Reasoning { text, .. } => json!({ "type": "summary_text", "text": or(text) }),
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
