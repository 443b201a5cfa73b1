//! Rendering a message as events.

use serde_json::{Value, json};

use super::whole::{message, output, stop_details, stop_reason, tool_use, usage};
use crate::mock_server::{
    reply::{Answer, Block, Chunking, TokenUsage},
    wire::{
        contract::ReplyMetadata,
        event::{Event, Part},
    },
};

/// Renders the events of a stream: `message_start` and a ping; each block between its start and its stop;
/// `message_delta` with the stop reason and the final counts; and `message_stop`.
pub(super) fn stream(answer: &Answer, metadata: &ReplyMetadata, chunking: Chunking) -> Vec<Event> {
    let mut events = vec![message_start(metadata), content(&json!({ "type": "ping" }))];
    let is_content = |block: &&Block| !matches!(block, Block::Refusal(_));
    for (index, block) in answer.blocks.iter().filter(is_content).enumerate() {
        let block_start = json!({ "type": "content_block_start", "index": index, "content_block": empty_block(block) });
        events.push(content(&block_start));
        for delta in deltas(block, chunking) {
            events.push(content(
                &json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ));
        }
        events.push(content(&json!({ "type": "content_block_stop", "index": index })));
    }
    events.push(event(Part::Finish, &message_delta(answer, metadata)));
    events.push(event(Part::Done, &json!({ "type": "message_stop" })));
    events
}

/// Renders the first event. Its counts cover the prompt and the first generated token.
fn message_start(metadata: &ReplyMetadata) -> Event {
    let counts = metadata.usage.as_ref().map(|counts| {
        let first = TokenUsage {
            output: 1,
            reasoning: None,
            ..*counts
        };
        usage(&first)
    });
    let message = message(metadata, &json!([]), &Value::Null, counts);
    content(&json!({ "type": "message_start", "message": message }))
}

fn message_delta(answer: &Answer, metadata: &ReplyMetadata) -> Value {
    let mut delta = json!({ "stop_reason": stop_reason(&answer.finish()), "stop_sequence": null });
    if let Some(details) = stop_details(answer) {
        delta["stop_details"] = details;
    }
    match &metadata.usage {
        Some(counts) => {
            json!({ "type": "message_delta", "delta": delta, "usage": output(counts) })
        }
        None => json!({ "type": "message_delta", "delta": delta }),
    }
}

/// Renders a block as it appears in `content_block_start`, before its content.
fn empty_block(block: &Block) -> Value {
    match block {
        Block::Text(_) | Block::Refusal(_) => json!({ "type": "text", "text": "" }),
        Block::Reasoning { .. } => json!({ "type": "thinking", "thinking": "", "signature": "" }),
        Block::Redacted(data) => json!({ "type": "redacted_thinking", "data": data }),
        Block::Call(call) => tool_use(call, &json!({})),
    }
}

/// Renders the deltas of a block. The first delta of a tool's input is always empty.
fn deltas(block: &Block, chunking: Chunking) -> Vec<Value> {
    let pieces = |text, kind: &str, member: &str| -> Vec<Value> {
        chunking
            .pieces(text)
            .into_iter()
            .map(|piece| json!({ "type": kind, member: piece }))
            .collect()
    };
    match block {
        Block::Text(text) | Block::Refusal(text) => pieces(text, "text_delta", "text"),
        Block::Reasoning { text, signature } => {
            let mut deltas = pieces(text, "thinking_delta", "thinking");
            deltas.extend(
                signature
                    .as_ref()
                    .map(|signature| json!({ "type": "signature_delta", "signature": signature })),
            );
            deltas
        }
        Block::Redacted(_) => Vec::new(),
        Block::Call(call) => {
            let mut deltas = vec![json!({ "type": "input_json_delta", "partial_json": "" })];
            deltas.extend(pieces(&call.arguments, "input_json_delta", "partial_json"));
            deltas
        }
    }
}

fn content(data: &Value) -> Event {
    event(Part::Content, data)
}

/// Creates an event named after the `type` of its data.
fn event(part: Part, data: &Value) -> Event {
    Event::named(part, data["type"].as_str().unwrap_or_default(), data.to_string())
}
