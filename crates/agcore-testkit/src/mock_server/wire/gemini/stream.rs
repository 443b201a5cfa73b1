//! Rendering a reply as chunks.

use serde_json::{Value, json};

use super::whole::{call, chunk, finish_reason, usage};
use crate::mock_server::{
    reply::{Answer, Block, Chunking, TokenUsage},
    wire::{
        contract::ReplyMetadata,
        event::{Event, Part},
    },
};

/// Renders one chunk per piece of text or thought and one per call, followed by one with the finish reason. There is no
/// terminal marker. Each chunk has the token counts so far.
pub(super) fn stream(answer: &Answer, metadata: &ReplyMetadata, chunking: Chunking) -> Vec<Event> {
    let mut parts: Vec<Value> = Vec::new();
    let mut seal = None;
    for block in &answer.blocks {
        match block {
            Block::Text(text) | Block::Refusal(text) => {
                parts.extend(chunking.pieces(text).into_iter().map(|piece| json!({ "text": piece })));
            }
            Block::Reasoning { text, signature } => {
                seal = signature.clone();
                let pieces = chunking.pieces(text).into_iter();
                parts.extend(pieces.map(|piece| json!({ "text": piece, "thought": true })));
            }
            Block::Redacted(_) => {}
            Block::Call(tool_call) => {
                let mut part = call(tool_call);
                if let Some(seal) = seal.take() {
                    part["thoughtSignature"] = json!(seal);
                }
                parts.push(part);
            }
        }
    }
    // The signature of thoughts that led to text is on an empty text at the end.
    let last = seal.map(|seal| json!({ "text": "", "thoughtSignature": seal }));
    let early = metadata
        .usage
        .as_ref()
        .map(|counts| usage(&TokenUsage::new(counts.input, 0)));
    let chunks = parts.iter().map(|part| {
        let parts = std::slice::from_ref(part);
        Event::new(
            Part::Content,
            chunk(answer, metadata, parts, None, early.clone()).to_string(),
        )
    });
    let mut events: Vec<Event> = chunks.collect();
    let finish = finish_reason(&answer.finish());
    let counts = metadata.usage.as_ref().map(usage);
    let end = chunk(answer, metadata, last.as_slice(), Some(&finish), counts);
    events.push(Event::new(Part::Finish, end.to_string()));
    events
}
