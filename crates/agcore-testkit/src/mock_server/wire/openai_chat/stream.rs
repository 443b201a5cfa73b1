//! A chat completion as chunks.

use serde_json::{Map, Value, json};

use super::super::super::answer::{Answer, Block};
use super::super::super::call::ToolCall;
use super::super::super::chunking::Chunking;
use super::super::super::event::{Event, Part};
use super::super::stamp::Stamp;
use super::whole::{REASONING, finish, head, usage};

/// Role first, then a chunk per piece, the finish reason in a chunk of its own, the counts in a chunk without choices
/// if they were asked for, and `[DONE]`.
pub(super) fn stream(answer: &Answer, stamp: &Stamp, chunking: Chunking) -> Vec<Event> {
    let chunks = Chunks {
        head: chunk_head(answer, stamp),
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
        } else if let Some((member, text)) = channel(answer, block) {
            let pieces = chunking.pieces(text);
            events.extend(pieces.iter().map(|piece| chunks.delta(&json!({ member: piece }))));
        }
    }
    events.push(chunks.choice(Part::Finish, &json!({}), &json!(finish(&answer.finish()))));
    if let Some(counts) = stamp.usage.as_ref().filter(|_| stamp.include_usage) {
        events.push(chunks.counts(&usage(counts)));
    }
    events.push(Event::new(Part::Done, "[DONE]"));
    events
}

/// While counts are asked for, every chunk but the last says `"usage": null`.
fn chunk_head(answer: &Answer, stamp: &Stamp) -> Map<String, Value> {
    let mut head = head(answer, stamp, "chat.completion.chunk");
    if stamp.include_usage {
        head.insert("usage".into(), Value::Null);
    }
    head
}

/// The member of the delta in which a block's text travels.
fn channel<'a>(answer: &'a Answer, block: &'a Block) -> Option<(&'a str, &'a str)> {
    match block {
        Block::Text(text) => Some(("content", text)),
        Block::Refusal(text) => Some(("refusal", text)),
        Block::Reasoning { text, .. } => Some((answer.reasoning_member.as_deref().unwrap_or(REASONING), text)),
        Block::Redacted(_) | Block::Call(_) => None,
    }
}

/// Id, type and name come in the first delta only; the arguments follow in pieces.
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

/// Writes chunks that share a head.
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
