//! Complete items: what they add to what was emitted, and what they mean as a whole.

use agcore_chat::Block;
use serde_json::{Map, Value, json};

use super::State;
use crate::{
    decode::answer::Answer,
    delta::ReplyDelta,
    openai_responses::{
        decode::{
            item::{ItemKind, is_encrypted},
            json::{list, take_text},
            part::{Channel, PartText},
        },
        vendor::vendor_data,
    },
};

impl State {
    /// Emits the missing parts of a complete item.
    pub(super) fn push_item(
        &mut self,
        at: usize,
        is_custom: bool,
        item: Map<String, Value>,
        out: &mut Vec<ReplyDelta>,
    ) {
        let known = self.items.get_mut(at);
        if known.is_done {
            if known.lacks_encryption && is_encrypted(&item) {
                known.lacks_encryption = false;
                self.emitter.reseal_reasoning(known, item, out);
            }
            return;
        }
        match known.kind {
            ItemKind::Message => self.push_message(at, item, out),
            ItemKind::Reasoning => self.push_reasoning(at, item, out),
            ItemKind::Call => {
                known.custom = is_custom.then(|| item.clone());
                let fragment = known.call.finish(item, &known.id);
                self.emitter.call(at, known, is_custom, fragment, out);
            }
            ItemKind::Hosted => {
                self.pending.record(&item);
                self.emitter.block(known, Block::Hosted(vendor_data(item)), out);
            }
        }
        self.items.get_mut(at).is_done = true;
    }

    fn push_message(&mut self, at: usize, mut item: Map<String, Value>, out: &mut Vec<ReplyDelta>) {
        let (mut logprobs, mut has_refusal) = (Vec::new(), false);
        let mut parts = numbered_parts(content_parts(item.shift_remove("content")));
        let mut texts = self.remainders(at, &mut parts).into_iter().peekable();
        for (number, mut part) in parts {
            let Some(remainder) = texts.next_if(|text| text.number == number) else {
                // A part of an unknown type becomes a block. The text before it belongs to the same item.
                let known = self.items.get_mut(at);
                self.emitter.seal_message(known, item.clone(), false, out);
                self.emitter.block(known, Block::Other(Value::Object(part)), out);
                continue;
            };
            has_refusal |= remainder.channel == Channel::Refusal;
            logprobs.extend(list(part.shift_remove("logprobs")));
            self.set_annotations(at, number, list(part.shift_remove("annotations")));
            self.push_text(at, number, remainder.channel, remainder.text.into(), out);
        }
        let known = self.items.get_mut(at);
        self.emitter.seal_message(known, item, has_refusal, out);
        self.emitter.annotations(known.parts.take_annotations(), out);
        self.emitter.logprobs(logprobs, out);
    }

    fn push_reasoning(&mut self, at: usize, item: Map<String, Value>, out: &mut Vec<ReplyDelta>) {
        // Servers that send both stream the reasoning itself before its summary.
        for name in ["content", "summary"] {
            let mut parts = numbered_parts(list(item.get(name).cloned()));
            for remainder in self.remainders(at, &mut parts) {
                self.push_text(at, remainder.number, remainder.channel, remainder.text.into(), out);
            }
        }
        let known = self.items.get_mut(at);
        known.lacks_encryption = !is_encrypted(&item);
        self.emitter.seal_reasoning(known, item, out);
    }

    /// Turns calls of custom tools into hosted items if a text follows them in a complete answer: the vendor has run them,
    /// as the model would have waited for a result otherwise.
    pub(super) fn replace_executed_calls(&mut self, out: &mut Vec<ReplyDelta>) {
        let texts = self
            .items
            .iter_mut()
            .filter(|item| item.kind == ItemKind::Message && item.has_text());
        let Some(last) = texts.map(|item| item.position).max() else {
            return;
        };
        for item in self.items.iter_mut().filter(|item| item.position < last) {
            if let Some(hosted) = item.custom.take() {
                item.kind = ItemKind::Hosted;
                self.emitter.replace_call(item, hosted, out);
            }
        }
    }

    /// Removes the texts from the parts of a complete item, and returns what they add to what was emitted.
    fn remainders(&mut self, at: usize, parts: &mut [(u64, Map<String, Value>)]) -> Vec<PartText> {
        let is_reasoning = self.items.get_mut(at).kind == ItemKind::Reasoning;
        let read = |(number, part): &mut (u64, Map<String, Value>)| {
            let (channel, text) = Channel::take_text(part)?;
            Some(PartText {
                number: *number,
                channel: channel.within(is_reasoning),
                text,
            })
        };
        let wholes = parts.iter_mut().filter_map(read).collect();
        self.items.get_mut(at).parts.remainders(wholes)
    }
}

/// Returns the parts of the content of a message. A text, or an answer that is JSON, is a text part.
fn content_parts(content: Option<Value>) -> Vec<Value> {
    let text_part = |text: String| json!({ "type": "output_text", "text": text });
    match Answer::new(content.unwrap_or_default()) {
        Answer::Text(text) if text.is_empty() => Vec::new(),
        Answer::Text(text) => vec![text_part(text)],
        Answer::Parts(parts) => {
            let read = |part| match part {
                Value::String(text) => text_part(text),
                Value::Object(mut members) if !members.contains_key("type") => {
                    text_part(take_text(&mut members, "text"))
                }
                part => part,
            };
            parts.into_iter().map(read).collect()
        }
    }
}

/// Returns the objects in a list with their numbers.
fn numbered_parts(parts: Vec<Value>) -> Vec<(u64, Map<String, Value>)> {
    let objects = (0..).zip(parts).filter_map(|(number, part)| match part {
        Value::Object(part) => Some((number, part)),
        _ => None,
    });
    objects.collect()
}
