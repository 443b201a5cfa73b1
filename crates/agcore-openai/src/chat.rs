//! Answers of Chat Completions: as a whole, and as chunks.

mod whole;
mod stream;

pub use self::{stream::ChatStream, whole::ChatAnswer};

use serde_json::{Value, json};

use crate::{
    ids::CallId,
    reply::{Outcome, ReplyEnd},
};

/// The parts that every answer and chunk has.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    id: String,
    model: String,
    thread: String,
    created: u64,
}

/// The pause between two texts of one answer.
const PAUSE: &str = "\n\n";

impl Head {
    fn to_value(&self, object: &str, choices: &Value) -> Value {
        json!({
            "id": self.id,
            "object": object,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }

    /// Returns the calls of an end. Chunks have an index for each.
    fn calls(&self, end: &ReplyEnd, has_index: bool) -> Vec<Value> {
        let calls = end.calls.iter().enumerate();
        let calls = calls.map(|(index, call)| {
            let mut value = json!({
                "id": CallId::new(&*self.thread, &*call.id).encode(),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            });
            if has_index {
                value["index"] = index.into();
            }
            value
        });
        calls.collect()
    }
}

/// Returns the reason for the end of an answer.
fn finish_reason(end: &ReplyEnd) -> &str {
    match (&end.outcome, end.calls.is_empty(), end.cut_off.as_deref()) {
        (Outcome::Completed, false, _) => "tool_calls",
        (_, _, Some(reason @ ("length" | "content_filter"))) => reason,
        _ => "stop",
    }
}
