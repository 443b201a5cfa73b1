//! Rendering a chat completion as chunks.

use serde_json::{Map, Value, json};

use super::whole::{REASONING, finish, head, usage};
use crate::mock_server::{
    reply::{Answer, Block, Chunking, ToolCall},
    wire::{
        contract::ReplyMetadata,
        event::{Event, Part},
    },
};

/// Renders the chunks of a stream: the role; one chunk per piece; the finish reason; the token counts, in a chunk
/// without choices, if the request asked for them; and `[DONE]`.
pub(super) fn stream(answer: &Answer, metadata: &ReplyMetadata, chunking: Chunking) -> Vec<Event> {
    let chunks = Chunks {
        head: chunk_head(answer, metadata),
    };
    let mut events = vec![chunks.delta(&json!({ "role": "assistant", "content": "", "refusal": null }))];
    let mut calls = 0;
    for block in &answer.blocks {
        if let Block::Call(call) = block {
            events.extend(
                call_deltas(call, calls, chunking)
                    .iter()
                    .map(|delta| chunks.delta(delta)),
            );
            calls += 1;
        } else if let Some((member, text)) = text_member(answer, block) {
            let pieces = chunking.pieces(text);
            events.extend(pieces.iter().map(|piece| chunks.delta(&json!({ member: piece }))));
        }
    }
    events.push(chunks.choice(Part::Finish, &json!({}), &json!(finish(&answer.finish()))));
    if let Some(counts) = metadata.usage.as_ref().filter(|_| metadata.include_usage) {
        events.push(chunks.counts(&usage(counts)));
    }
    events.push(Event::new(Part::Done, "[DONE]"));
    events
}

/// Returns the members shared by all chunks. If the request asked for token counts, every chunk but the last contains
/// `"usage": null`.
fn chunk_head(answer: &Answer, metadata: &ReplyMetadata) -> Map<String, Value> {
    let mut head = head(answer, metadata, "chat.completion.chunk");
    if metadata.include_usage {
        head.insert("usage".into(), Value::Null);
    }
    head
}

/// Returns the member of the delta that carries a block's text, and the text.
fn text_member<'a>(answer: &'a Answer, block: &'a Block) -> Option<(&'a str, &'a str)> {
    match block {
        Block::Text(text) => Some(("content", text)),
        Block::Refusal(text) => Some(("refusal", text)),
        Block::Reasoning { text, .. } => Some((answer.reasoning_member.as_deref().unwrap_or(REASONING), text)),
        Block::Redacted(_) | Block::Call(_) => None,
    }
}

/// Renders the deltas of a call: the first carries the id, type and name, the others pieces of the arguments.
fn call_deltas(call: &ToolCall, index: usize, chunking: Chunking) -> Vec<Value> {
    let first = json!({
        "index": index, "id": call.id, "type": "function", "function": { "name": call.name, "arguments": "" },
    });
    let rest = chunking.pieces(&call.arguments).into_iter();
    let rest = rest.map(|piece| json!({ "index": index, "function": { "arguments": piece } }));
    std::iter::once(first)
        .chain(rest)
        .map(|call| json!({ "tool_calls": [call] }))
        .collect()
}

/// Renders chunks that share a head.
struct Chunks {
    head: Map<String, Value>,
}

impl Chunks {
    fn delta(&self, delta: &Value) -> Event {
        self.choice(Part::Content, delta, &Value::Null)
    }

    fn choice(&self, part: Part, delta: &Value, finish: &Value) -> Event {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish });
        self.chunk(part, json!([choice]), None)
    }

    fn counts(&self, usage: &Value) -> Event {
        self.chunk(Part::Content, json!([]), Some(usage))
    }

    fn chunk(&self, part: Part, choices: Value, usage: Option<&Value>) -> Event {
        let mut chunk = self.head.clone();
        chunk.insert("choices".into(), choices);
        if let Some(usage) = usage {
            chunk.insert("usage".into(), usage.clone());
        }
        Event::new(part, Value::Object(chunk).to_string())
    }
}
