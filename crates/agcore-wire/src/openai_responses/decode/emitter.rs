//! [`DeltaEmitter`]: emits deltas, and keeps track of the text that is open in the fold.

use agcore_chat::{Block, FinishReason, Text, VendorData};
use serde_json::{Map, Value};

use super::{
    item::{Item, ItemKind},
    part::Channel,
};
use crate::{
    decode::finish::push_finish,
    delta::{CallFragment, Place, ReplyDelta, SealedBlock},
    openai_responses::vendor::{CHOICE, PART, REFUSAL, vendor_data},
};

/// Emits deltas, and keeps track of the text that is open in the fold.
#[derive(Debug, Default)]
pub(super) struct DeltaEmitter {
    /// The part whose text is open: the position of its item, and its number within the item.
    open: Option<(usize, u64)>,
    has_calls: bool,
    has_refusal: bool,
}

impl DeltaEmitter {
    /// Emits text of a part of the item at the position `at`.
    pub(super) fn text(
        &mut self,
        (at, item): (usize, &mut Item),
        part: u64,
        channel: Channel,
        text: Text,
        out: &mut Vec<ReplyDelta>,
    ) {
        let choice = CHOICE;
        if channel == Channel::Refusal {
            self.has_refusal = true;
            out.push(ReplyDelta::Refusal { choice, text });
            return;
        }
        self.switch_to(at, item, part, out);
        out.push(match channel {
            Channel::Text => ReplyDelta::Text { choice, text },
            _ => ReplyDelta::Reasoning { choice, text },
        });
    }

    /// Emits a fragment of the call at the position `at`. The position is its index, because those of servers are not
    /// reliable.
    pub(super) fn call(&mut self, at: usize, is_custom: bool, fragment: CallFragment, out: &mut Vec<ReplyDelta>) {
        (self.has_calls, self.open) = (true, None);
        let fragment = CallFragment {
            index: u32::try_from(at).ok(),
            custom: is_custom,
            ..fragment
        };
        out.push(ReplyDelta::Call {
            choice: CHOICE,
            fragment: Box::new(fragment),
        });
    }

    /// Emits a whole block.
    pub(super) fn block(&mut self, block: Block, out: &mut Vec<ReplyDelta>) {
        self.open = None;
        out.push(ReplyDelta::Block {
            choice: CHOICE,
            block: Box::new(block),
        });
    }

    /// Stores the members of a message item on its last text, or on an empty text if the item contains only a refusal.
    /// Text that was followed by something else gets no members, and is sent back as plain text.
    pub(super) fn seal_message(
        &mut self,
        (at, item): (usize, &mut Item),
        mut members: Map<String, Value>,
        is_refusal: bool,
        out: &mut Vec<ReplyDelta>,
    ) {
        let part = self.open.filter(|(open, _)| *open == at).map(|(_, part)| part);
        let is_only_refusal = is_refusal && !item.has_text();
        if part.is_none() && !is_only_refusal {
            return;
        }
        members.retain(|name, value| !value.is_null() && name != "type" && name != "role");
        if is_refusal {
            members.insert(REFUSAL.to_owned(), true.into());
        }
        match part {
            Some(part) => insert_part_members(item, part, &mut members),
            None => self.close(out),
        }
        self.seal(SealedBlock::Text, vendor_data(members), out);
    }

    /// Stores a reasoning item on its last text, or on an empty one.
    pub(super) fn seal_reasoning(&mut self, at: usize, item: Map<String, Value>, out: &mut Vec<ReplyDelta>) {
        if self.open.is_some_and(|(open, _)| open != at) {
            self.close(out);
        }
        self.seal(SealedBlock::Reasoning, vendor_data(item), out);
    }

    /// Emits annotations of the message.
    pub(super) fn annotations(&mut self, annotations: Vec<Value>, out: &mut Vec<ReplyDelta>) {
        if !annotations.is_empty() {
            out.push(member(Place::Message(CHOICE), "annotations", annotations.into()));
        }
    }

    /// Emits log probabilities, in the form of the Chat Completions API.
    pub(super) fn logprobs(&mut self, tokens: Vec<Value>, out: &mut Vec<ReplyDelta>) {
        if !tokens.is_empty() {
            let value = Map::from_iter([("content".to_owned(), Value::Array(tokens))]);
            out.push(member(Place::Choice(CHOICE), "logprobs", value.into()));
        }
    }

    /// Emits the finish reason. For a complete answer it depends on whether there are calls or a refusal. The server's own
    /// word is kept, except for `completed`.
    pub(super) fn finish(&mut self, reason: FinishReason, native: &str, out: &mut Vec<ReplyDelta>) {
        let reason = match reason {
            FinishReason::Stop if self.has_calls => FinishReason::ToolCalls,
            FinishReason::Stop if self.has_refusal => FinishReason::Refusal,
            reason => reason,
        };
        if native == "completed" {
            out.push(ReplyDelta::Finish { choice: CHOICE, reason });
        } else {
            push_finish(CHOICE, reason, native, out);
        }
    }

    /// Makes another part the open one. If the previous part belongs to the same message, it is sealed with the id of the
    /// message, so that both are sent back as one item.
    fn switch_to(&mut self, at: usize, item: &mut Item, part: u64, out: &mut Vec<ReplyDelta>) {
        match self.open {
            Some(open) if open == (at, part) => return,
            Some((open, previous)) if open == at && item.kind == ItemKind::Message => {
                let mut members = Map::new();
                if !item.id.is_empty() {
                    members.insert("id".to_owned(), (*item.id).into());
                }
                insert_part_members(item, previous, &mut members);
                self.seal(SealedBlock::Text, vendor_data(members), out);
            }
            Some(_) => self.close(out),
            None => {}
        }
        self.open = Some((at, part));
    }

    fn close(&mut self, out: &mut Vec<ReplyDelta>) {
        if self.open.take().is_some() {
            out.push(ReplyDelta::BlockEnd { choice: CHOICE });
        }
    }

    fn seal(&mut self, block: SealedBlock, data: VendorData, out: &mut Vec<ReplyDelta>) {
        self.open = None;
        out.push(ReplyDelta::Seal {
            choice: CHOICE,
            block,
            vendor: Box::new(data),
        });
    }
}

/// Inserts the members of a part into those of its item.
fn insert_part_members(item: &mut Item, part: u64, members: &mut Map<String, Value>) {
    let annotations = item.parts.annotations(part).clone();
    if !annotations.is_empty() {
        let part_members = Map::from_iter([("annotations".to_owned(), Value::Array(annotations))]);
        members.insert(PART.to_owned(), part_members.into());
    }
}

/// Returns a delta for a member without a delta of its own.
pub(super) fn member(place: Place, name: &str, value: Value) -> ReplyDelta {
    ReplyDelta::Member {
        place,
        name: name.into(),
        value,
    }
}
