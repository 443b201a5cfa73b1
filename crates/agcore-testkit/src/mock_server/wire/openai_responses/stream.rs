//! Rendering a response as events.

use serde_json::{Map, Value, json};

use super::whole::{item, item_id, message, part, reasoning, response, whole};
use crate::mock_server::{
    reply::{Answer, Block, Chunking},
    wire::{
        contract::ReplyMetadata,
        event::{Event, Part},
    },
};

/// Renders the events of a stream: `response.created` and `response.in_progress`; each item from `output_item.added` to
/// `output_item.done`; and a last event with the entire response, which is the only terminal marker.
pub(super) fn stream(answer: &Answer, metadata: &ReplyMetadata, chunking: Chunking) -> Vec<Event> {
    let mut events = EventList::default();
    let in_progress = json!({ "response": response(metadata, "in_progress", None, &json!([])) });
    events.push("response.created", in_progress.clone());
    events.push("response.in_progress", in_progress);
    for (index, block) in answer.blocks.iter().enumerate() {
        let item = OutputItem {
            id: item_id(block, index, metadata),
            index,
        };
        item.render(&mut events, block, chunking);
    }
    let finished = whole(answer, metadata);
    let name = if finished["status"] == "completed" {
        "response.completed"
    } else {
        "response.incomplete"
    };
    events.push(name, json!({ "response": finished }));
    if let Some(last) = events.0.last_mut() {
        last.part = Part::Finish;
    }
    events.0
}

/// The events rendered so far. Assigns each event its name and sequence number.
#[derive(Default)]
struct EventList(Vec<Event>);

impl EventList {
    fn push(&mut self, name: &str, members: Value) {
        let mut data = Map::new();
        data.insert("type".into(), json!(name));
        data.insert("sequence_number".into(), json!(self.0.len()));
        if let Value::Object(members) = members {
            data.extend(members);
        }
        self.0
            .push(Event::named(Part::Content, name, Value::Object(data).to_string()));
    }
}

/// The id and position of an output item.
struct OutputItem {
    id: String,
    index: usize,
}

/// The names of the events that carry a block's text.
struct TextEvents {
    /// The prefix of the events for the part.
    part: &'static str,
    /// The prefix of the events for its text.
    text: &'static str,
    /// The member of the `done` event that contains the entire text.
    member: &'static str,
    /// The member that contains the index of the part within its item.
    index: &'static str,
}

impl OutputItem {
    fn render(&self, events: &mut EventList, block: &Block, chunking: Chunking) {
        events.push(
            "response.output_item.added",
            json!({ "output_index": self.index, "item": self.added(block) }),
        );
        match block {
            Block::Call(call) => self.render_arguments(events, &call.arguments, chunking),
            Block::Redacted(_) => {}
            Block::Text(text) | Block::Refusal(text) => self.render_text(events, block, text, chunking),
            Block::Reasoning { text, .. } if text.is_empty() => {}
            Block::Reasoning { text, .. } => self.render_text(events, block, text, chunking),
        }
        let done = item(block, &self.id);
        events.push(
            "response.output_item.done",
            json!({ "output_index": self.index, "item": done }),
        );
    }

    /// Renders the item as it appears in `output_item.added`, before its content.
    fn added(&self, block: &Block) -> Value {
        match block {
            Block::Text(_) | Block::Refusal(_) => message(&self.id, "in_progress", &json!([])),
            Block::Reasoning { .. } | Block::Redacted(_) => reasoning(&self.id, &json!([]), None),
            Block::Call(call) => json!({
                "id": self.id, "type": "function_call", "status": "in_progress", "call_id": call.id,
                "name": call.name, "arguments": "",
            }),
        }
    }

    fn render_arguments(&self, events: &mut EventList, arguments: &str, chunking: Chunking) {
        for piece in chunking.pieces(arguments) {
            let delta = json!({ "item_id": self.id, "output_index": self.index, "delta": piece });
            events.push("response.function_call_arguments.delta", delta);
        }
        let done = json!({ "item_id": self.id, "output_index": self.index, "arguments": arguments });
        events.push("response.function_call_arguments.done", done);
    }

    fn render_text(&self, events: &mut EventList, block: &Block, text: &str, chunking: Chunking) {
        let names = text_events(block);
        let event = |member: &str, value: Value| json!({ "item_id": self.id, "output_index": self.index, names.index: 0, member: value });
        events.push(&format!("{}.added", names.part), event("part", part(block, Some(""))));
        for piece in chunking.pieces(text) {
            events.push(&format!("{}.delta", names.text), event("delta", json!(piece)));
        }
        events.push(&format!("{}.done", names.text), event(names.member, json!(text)));
        events.push(&format!("{}.done", names.part), event("part", part(block, None)));
    }
}

fn text_events(block: &Block) -> TextEvents {
    let content = "response.content_part";
    match block {
        Block::Refusal(_) => TextEvents {
            part: content,
            text: "response.refusal",
            member: "refusal",
            index: "content_index",
        },
        Block::Reasoning { .. } => TextEvents {
            part: "response.reasoning_summary_part",
            text: "response.reasoning_summary_text",
            member: "text",
            index: "summary_index",
        },
        Block::Text(_) | Block::Redacted(_) | Block::Call(_) => TextEvents {
            part: content,
            text: "response.output_text",
            member: "text",
            index: "content_index",
        },
    }
}
