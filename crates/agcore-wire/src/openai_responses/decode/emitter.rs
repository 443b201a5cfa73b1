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

/// Emits deltas, and keeps track of the item that is open in the fold.
#[derive(Debug, Default)]
pub(super) struct DeltaEmitter {
    /// The position of the item that is open in the fold.
    open: u32,
    has_refusal: bool,
}

impl DeltaEmitter {
    /// Emits text of a part of an item.
    pub(super) fn text(&mut self, item: &mut Item, part: u64, channel: Channel, text: Text, out: &mut Vec<ReplyDelta>) {
        let choice = CHOICE;
        if channel == Channel::Refusal {
            self.has_refusal = true;
            out.push(ReplyDelta::Refusal { choice, text });
            return;
        }
        self.enter(item, out);
        if item.open_part != Some(part) {
            close_part(item, out);
            (item.open_part, item.has_blocks) = (Some(part), true);
        }
        out.push(match channel {
            Channel::Text => ReplyDelta::Text { choice, text },
            _ => ReplyDelta::Reasoning { choice, text },
        });
    }

    /// Emits a fragment of the call at the position `at`. The position is its index, because those of servers are not
    /// reliable.
    pub(super) fn call(
        &mut self,
        at: usize,
        item: &mut Item,
        is_custom: bool,
        fragment: CallFragment,
        out: &mut Vec<ReplyDelta>,
    ) {
        self.enter(item, out);
        item.has_blocks = true;
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

    /// Emits a whole block of an item.
    pub(super) fn block(&mut self, item: &mut Item, block: Block, out: &mut Vec<ReplyDelta>) {
        self.enter(item, out);
        (item.open_part, item.has_blocks) = (None, true);
        out.push(ReplyDelta::Block {
            choice: CHOICE,
            block: Box::new(block),
        });
    }

    /// Replaces a call by a hosted item.
    pub(super) fn replace_call(&mut self, item: &Item, hosted: Map<String, Value>, out: &mut Vec<ReplyDelta>) {
        self.reopen(item, out);
        out.push(ReplyDelta::Block {
            choice: CHOICE,
            block: Box::new(Block::Hosted(vendor_data(hosted))),
        });
    }

    /// Stores the members of a message item on its last text, or on an empty text if the item contains only a refusal.
    pub(super) fn seal_message(
        &mut self,
        item: &mut Item,
        mut members: Map<String, Value>,
        is_refusal: bool,
        out: &mut Vec<ReplyDelta>,
    ) {
        let is_only_refusal = is_refusal && !item.has_text();
        if item.open_part.is_none() && !is_only_refusal {
            return;
        }
        members.retain(|name, value| !value.is_null() && name != "type" && name != "role");
        if is_refusal {
            members.insert(REFUSAL.to_owned(), true.into());
        }
        self.enter(item, out);
        if let Some(part) = item.open_part.take() {
            insert_part_members(item, part, &mut members);
        }
        item.has_blocks = true;
        seal(SealedBlock::Text, vendor_data(members), out);
    }

    /// Stores a reasoning item on its last text, or on an empty one.
    pub(super) fn seal_reasoning(&mut self, item: &mut Item, members: Map<String, Value>, out: &mut Vec<ReplyDelta>) {
        self.enter(item, out);
        (item.open_part, item.has_blocks) = (None, true);
        seal(SealedBlock::Reasoning, vendor_data(members), out);
    }

    /// Stores a reasoning item again, which was incomplete before.
    pub(super) fn reseal_reasoning(&mut self, item: &Item, members: Map<String, Value>, out: &mut Vec<ReplyDelta>) {
        self.reopen(item, out);
        seal(SealedBlock::Reasoning, vendor_data(members), out);
    }

    /// Moves an item to the position of another one.
    pub(super) fn move_item(&mut self, from: u32, to: u32, out: &mut Vec<ReplyDelta>) {
        let choice = CHOICE;
        out.push(ReplyDelta::Move { choice, from, to });
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

    /// Emits the finish reason. The server's own word is kept, except for `completed`.
    pub(super) fn finish(&self, reason: FinishReason, native: &str, out: &mut Vec<ReplyDelta>) {
        if native == "completed" {
            out.push(ReplyDelta::Finish { choice: CHOICE, reason });
        } else {
            push_finish(CHOICE, reason, native, out);
        }
    }

    /// Returns whether a refusal was emitted.
    pub(super) fn has_refusal(&self) -> bool {
        self.has_refusal
    }

    /// Makes an item the open one.
    fn enter(&mut self, item: &Item, out: &mut Vec<ReplyDelta>) {
        if self.open == item.position {
            return;
        }
        self.reopen(item, out);
        // Its last block is open again, but complete.
        if item.has_blocks && item.open_part.is_none() {
            out.push(ReplyDelta::BlockEnd { choice: CHOICE });
        }
    }

    fn reopen(&mut self, item: &Item, out: &mut Vec<ReplyDelta>) {
        self.open = item.position;
        out.push(ReplyDelta::Item {
            choice: CHOICE,
            position: item.position,
        });
    }
}

/// Ends the open part of an item. That of a message is sealed with the id of the message, so that its parts are sent back as
/// one item.
fn close_part(item: &mut Item, out: &mut Vec<ReplyDelta>) {
    let Some(part) = item.open_part.take() else { return };
    if item.kind != ItemKind::Message {
        return out.push(ReplyDelta::BlockEnd { choice: CHOICE });
    }
    let mut members = Map::new();
    if !item.id.is_empty() {
        members.insert("id".to_owned(), (*item.id).into());
    }
    insert_part_members(item, part, &mut members);
    seal(SealedBlock::Text, vendor_data(members), out);
}

fn seal(block: SealedBlock, data: VendorData, out: &mut Vec<ReplyDelta>) {
    out.push(ReplyDelta::Seal {
        choice: CHOICE,
        block,
        vendor: Box::new(data),
    });
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
