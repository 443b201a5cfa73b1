//! A chat reply as lines.

use serde_json::{Map, Value, json};

use super::super::super::answer::{Answer, Block};
use super::super::super::chunking::Chunking;
use super::super::super::event::{Event, Part};
use super::super::stamp::Stamp;
use super::whole::{call, last_line, line, said};

/// A line per piece of text or thinking and per call, and a last line that says that it is done. There is no terminal
/// marker besides that.
pub(super) fn stream(answer: &Answer, stamp: &Stamp, chunking: Chunking) -> Vec<Event> {
    let mut messages: Vec<Map<String, Value>> = Vec::new();
    let mut calls = 0;
    for block in &answer.blocks {
        match block {
            Block::Text(text) | Block::Refusal(text) => {
                messages.extend(chunking.pieces(text).into_iter().map(said));
            }
            Block::Reasoning { text, .. } => {
                messages.extend(
                    chunking
                        .pieces(text)
                        .into_iter()
                        .map(|piece| with("thinking", json!(piece))),
                );
            }
            Block::Redacted(_) => {}
            Block::Call(made) => {
                messages.push(with("tool_calls", json!([call((calls, made))])));
                calls += 1;
            }
        }
    }
    let lines = messages
        .into_iter()
        .map(|message| Value::Object(line(answer, stamp, message)));
    let mut events: Vec<Event> = lines.map(|line| Event::new(Part::Content, line.to_string())).collect();
    events.push(Event::new(Part::Finish, last_line(answer, stamp, said("")).to_string()));
    events
}

fn with(member: &str, value: Value) -> Map<String, Value> {
    let mut message = said("");
    message.insert(member.into(), value);
    message
}
