//! A response as events.

use serde_json::{Map, Value, json};

use super::super::super::answer::{Answer, Block};
use super::super::super::chunking::Chunking;
use super::super::super::event::{Event, Part};
use super::super::stamp::Stamp;
use super::whole::{item, item_id, message, part, reasoning, response, whole};

/// Created, in progress, each item from `output_item.added` to `output_item.done`, and the whole response in the last
/// event. There is no terminal marker besides that.
pub(super) fn stream(answer: &Answer, stamp: &Stamp, chunking: Chunking) -> Vec<Event> {
    let mut tape = Tape::default();
    let begun = json!({ "response": response(stamp, "in_progress", None, &json!([])) });
    tape.add("response.created", begun.clone());
    tape.add("response.in_progress", begun);
    for (index, block) in answer.blocks.iter().enumerate() {
        let place = Place {
            id: item_id(block, index, stamp),
            index,
        };
        place.play(&mut tape, block, chunking);
    }
    let ended = whole(answer, stamp);
    let name = if ended["status"] == "completed" {
        "response.completed"
    } else {
        "response.incomplete"
    };
    tape.add(name, json!({ "response": ended }));
    if let Some(last) = tape.events.last_mut() {
        last.part = Part::Finish;
    }
    tape.events
}

/// The events so far; gives each its name and number.
#[derive(Default)]
struct Tape {
    events: Vec<Event>,
}

impl Tape {
    fn add(&mut self, name: &str, members: Value) {
        let mut data = Map::new();
        data.insert("type".into(), json!(name));
        data.insert("sequence_number".into(), json!(self.events.len()));
        if let Value::Object(members) = members {
            data.extend(members);
        }
        self.events
            .push(Event::named(Part::Content, name, Value::Object(data).to_string()));
    }
}

/// Where an item stands in the output.
struct Place {
    id: String,
    index: usize,
}

/// The names of the events of a block's text, and its member in the `done` event.
struct Names {
    part: &'static str,
    text: &'static str,
    member: &'static str,
    /// The member that numbers the part within its item.
    number: &'static str,
}

impl Place {
    fn play(&self, tape: &mut Tape, block: &Block, chunking: Chunking) {
        tape.add(
            "response.output_item.added",
            json!({ "output_index": self.index, "item": self.opening(block) }),
        );
        match block {
            Block::Call(call) => self.arguments(tape, &call.arguments, chunking),
            Block::Redacted(_) => {}
            Block::Text(text) | Block::Refusal(text) => self.text(tape, block, text, chunking),
            Block::Reasoning { text, .. } if text.is_empty() => {}
            Block::Reasoning { text, .. } => self.text(tape, block, text, chunking),
        }
        let done = item(block, &self.id);
        tape.add(
            "response.output_item.done",
            json!({ "output_index": self.index, "item": done }),
        );
    }

    fn opening(&self, block: &Block) -> Value {
        match block {
            Block::Text(_) | Block::Refusal(_) => message(&self.id, "in_progress", &json!([])),
            Block::Reasoning { .. } | Block::Redacted(_) => reasoning(&self.id, &json!([]), None),
            Block::Call(call) => json!({
                "id": self.id, "type": "function_call", "status": "in_progress", "call_id": call.id,
                "name": call.name, "arguments": "",
            }),
        }
    }

    fn arguments(&self, tape: &mut Tape, arguments: &str, chunking: Chunking) {
        for piece in chunking.pieces(arguments) {
            let delta = json!({ "item_id": self.id, "output_index": self.index, "delta": piece });
            tape.add("response.function_call_arguments.delta", delta);
        }
        let done = json!({ "item_id": self.id, "output_index": self.index, "arguments": arguments });
        tape.add("response.function_call_arguments.done", done);
    }

    fn text(&self, tape: &mut Tape, block: &Block, text: &str, chunking: Chunking) {
        let names = names(block);
        let event = |member: &str, value: Value| json!({ "item_id": self.id, "output_index": self.index, names.number: 0, member: value });
        tape.add(&format!("{}.added", names.part), event("part", part(block, Some(""))));
        for piece in chunking.pieces(text) {
            tape.add(&format!("{}.delta", names.text), event("delta", json!(piece)));
        }
        tape.add(&format!("{}.done", names.text), event(names.member, json!(text)));
        tape.add(&format!("{}.done", names.part), event("part", part(block, None)));
    }
}

fn names(block: &Block) -> Names {
    let content = "response.content_part";
    match block {
        Block::Refusal(_) => Names {
            part: content,
            text: "response.refusal",
            member: "refusal",
            number: "content_index",
        },
        Block::Reasoning { .. } => Names {
            part: "response.reasoning_summary_part",
            text: "response.reasoning_summary_text",
            member: "text",
            number: "summary_index",
        },
        Block::Text(_) | Block::Redacted(_) | Block::Call(_) => Names {
            part: content,
            text: "response.output_text",
            member: "text",
            number: "content_index",
        },
    }
}
