//! A message as events.

use serde_json::{Value, json};

use super::super::super::answer::{Answer, Block};
use super::super::super::chunking::Chunking;
use super::super::super::event::{Event, Part};
use super::super::super::usage::TokenUsage;
use super::super::stamp::Stamp;
use super::whole::{message, output, stop_details, stop_reason, tool_use, usage};

/// `message_start` and a ping, each block between its start and its stop, the stop reason with the final counts in
/// `message_delta`, and `message_stop`.
pub(super) fn stream(answer: &Answer, stamp: &Stamp, chunking: Chunking) -> Vec<Event> {
    let mut events = vec![start(stamp), content(&json!({ "type": "ping" }))];
    let content_of = |block: &&Block| !matches!(block, Block::Refusal(_));
    for (index, block) in answer.blocks.iter().filter(content_of).enumerate() {
        let opened = json!({ "type": "content_block_start", "index": index, "content_block": opening(block) });
        events.push(content(&opened));
        for delta in deltas(block, chunking) {
            events.push(content(
                &json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ));
        }
        events.push(content(&json!({ "type": "content_block_stop", "index": index })));
    }
    events.push(event(Part::Finish, &ending(answer, stamp)));
    events.push(event(Part::Done, &json!({ "type": "message_stop" })));
    events
}

/// The counts at the start know the prompt and the first token.
fn start(stamp: &Stamp) -> Event {
    let counts = stamp.usage.as_ref().map(|counts| {
        let first = TokenUsage {
            output: 1,
            reasoning: None,
            ..*counts
        };
        usage(&first)
    });
    let message = message(stamp, &json!([]), &Value::Null, counts);
    content(&json!({ "type": "message_start", "message": message }))
}

fn ending(answer: &Answer, stamp: &Stamp) -> Value {
    let mut delta = json!({ "stop_reason": stop_reason(&answer.finish()), "stop_sequence": null });
    if let Some(details) = stop_details(answer) {
        delta["stop_details"] = details;
    }
    match &stamp.usage {
        Some(counts) => {
            json!({ "type": "message_delta", "delta": delta, "usage": output(counts) })
        }
        None => json!({ "type": "message_delta", "delta": delta }),
    }
}

fn opening(block: &Block) -> Value {
    match block {
        Block::Text(_) | Block::Refusal(_) => json!({ "type": "text", "text": "" }),
        Block::Reasoning { .. } => json!({ "type": "thinking", "thinking": "", "signature": "" }),
        Block::Redacted(data) => json!({ "type": "redacted_thinking", "data": data }),
        Block::Call(call) => tool_use(call, &json!({})),
    }
}

/// The first piece of a tool's input is always empty.
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
        Block::Reasoning { text, seal } => {
            let mut deltas = pieces(text, "thinking_delta", "thinking");
            deltas.extend(
                seal.as_ref()
                    .map(|seal| json!({ "type": "signature_delta", "signature": seal })),
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

/// The event's name is the `type` of its data.
fn event(part: Part, data: &Value) -> Event {
    Event::named(part, data["type"].as_str().unwrap_or_default(), data.to_string())
}
