//! Rendering a reply as events.

use serde_json::{Value, json};

use super::whole::{metrics, stop_reason, usage};
use crate::mock_server::{
    reply::{Answer, Block, Chunking},
    wire::{
        contract::ReplyMetadata,
        event::{Event, Part},
    },
};

/// The longest padding of an event.
const MAX_PADDING: usize = 36;

/// Renders the events of a stream: `messageStart`; the pieces of each block, with a start only for calls, and its stop;
/// `messageStop`; and `metadata`, which is the last thing.
pub(super) fn stream(answer: &Answer, metadata: &ReplyMetadata, chunking: Chunking) -> Vec<Event> {
    let mut events = vec![event(Part::Content, "messageStart", json!({ "role": "assistant" }), 0)];
    for (index, block) in answer.blocks.iter().enumerate() {
        if let Block::Call(call) = block {
            let start = json!({ "toolUse": { "name": call.name, "toolUseId": call.id } });
            let start = json!({ "contentBlockIndex": index, "start": start });
            events.push(event(Part::Content, "contentBlockStart", start, events.len()));
        }
        for delta in deltas(block, chunking) {
            let delta = json!({ "contentBlockIndex": index, "delta": delta });
            events.push(event(Part::Content, "contentBlockDelta", delta, events.len()));
        }
        let stop = json!({ "contentBlockIndex": index });
        events.push(event(Part::Content, "contentBlockStop", stop, events.len()));
    }
    let stop = json!({ "stopReason": stop_reason(&answer.finish()) });
    events.push(event(Part::Finish, "messageStop", stop, events.len()));
    let mut last = json!({ "metrics": metrics() });
    if let Some(counts) = &metadata.usage {
        last["usage"] = usage(counts);
    }
    for (name, value) in &answer.extra {
        last[name] = value.clone();
    }
    events.push(event(Part::Done, "metadata", last, events.len()));
    events
}

fn deltas(block: &Block, chunking: Chunking) -> Vec<Value> {
    let pieces = |text: &str, form: fn(String) -> Value| -> Vec<Value> {
        let pieces = chunking.pieces(text).into_iter();
        pieces.map(|piece| form(piece.to_owned())).collect()
    };
    match block {
        Block::Text(text) | Block::Refusal(text) => pieces(text, |piece| json!({ "text": piece })),
        Block::Reasoning { text, signature } => {
            let mut deltas = pieces(text, |piece| json!({ "reasoningContent": { "text": piece } }));
            let signature = signature.as_ref();
            deltas.extend(signature.map(|signature| json!({ "reasoningContent": { "signature": signature } })));
            deltas
        }
        Block::Redacted(data) => vec![json!({ "reasoningContent": { "redactedContent": data } })],
        Block::Call(call) => {
            let mut deltas = vec![json!({ "toolUse": { "input": "" } })];
            deltas.extend(pieces(
                &call.arguments,
                |piece| json!({ "toolUse": { "input": piece } }),
            ));
            deltas
        }
    }
}

/// Creates an event with padding, whose length depends on the number of the event.
fn event(part: Part, name: &str, mut payload: Value, number: usize) -> Event {
    let padding: String = ('a'..='z').cycle().take(1 + number * 7 % MAX_PADDING).collect();
    payload["p"] = json!(padding);
    Event::named(part, name, payload.to_string())
}
