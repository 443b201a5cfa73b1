//! Rendering a chat reply as lines.

use serde_json::{Map, Value, json};

use super::whole::{assistant_message, call, last_line, line};
use crate::mock_server::{
    reply::{Answer, Block, Chunking},
    wire::{
        contract::ReplyMetadata,
        event::{Event, Part},
    },
};

/// Renders one line per piece of text or reasoning and one per call, followed by a last line with `"done": true`, which
/// is the only terminal marker.
pub(super) fn stream(answer: &Answer, metadata: &ReplyMetadata, chunking: Chunking) -> Vec<Event> {
    let mut messages: Vec<Map<String, Value>> = Vec::new();
    let mut calls = 0;
    for block in &answer.blocks {
        match block {
            Block::Text(text) | Block::Refusal(text) => {
                messages.extend(chunking.pieces(text).into_iter().map(assistant_message));
            }
            Block::Reasoning { text, .. } => {
                messages.extend(
                    chunking
                        .pieces(text)
                        .into_iter()
                        .map(|piece| message_with("thinking", json!(piece))),
                );
            }
            Block::Redacted(_) => {}
            Block::Call(tool_call) => {
                messages.push(message_with("tool_calls", json!([call(calls, tool_call)])));
                calls += 1;
            }
        }
    }
    let lines = messages
        .into_iter()
        .map(|message| Value::Object(line(answer, metadata, message)));
    let mut events: Vec<Event> = lines.map(|line| Event::new(Part::Content, line.to_string())).collect();
    let last = last_line(answer, metadata, assistant_message(""));
    events.push(Event::new(Part::Finish, last.to_string()));
    events
}

fn message_with(member: &str, value: Value) -> Map<String, Value> {
    let mut message = assistant_message("");
    message.insert(member.into(), value);
    message
}
