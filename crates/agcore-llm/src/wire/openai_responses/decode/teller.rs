//! [`Teller`]: writes deltas, and knows which text is open.

use agcore_chat::{Block, FinishReason, Text, VendorData};
use serde_json::{Map, Value};

use super::{
    super::vendor::{self, PART, REFUSAL},
    channel::Channel,
    item::{Item, Kind},
};
use crate::delta::{CallFragment, Place, ReplyDelta, SealedBlock};

/// The one answer of a response.
pub(super) const CHOICE: u32 = 0;

/// What was told, as far as it counts for what follows.
#[derive(Debug, Default)]
pub(super) struct Teller {
    /// The part whose text goes on: its item, and its number there.
    open: Option<(usize, u64)>,
    has_calls: bool,
    has_refusal: bool,
}

impl Teller {
    /// Text of a part.
    pub(super) fn say(
        &mut self,
        at: usize,
        item: &mut Item,
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
        self.turn_to(at, item, part, out);
        out.push(match channel {
            Channel::Text => ReplyDelta::Text { choice, text },
            _ => ReplyDelta::Reasoning { choice, text },
        });
    }

    /// A fragment of the call at this place. Places are counted here: the servers' own are not to be relied on.
    pub(super) fn call(&mut self, at: usize, custom: bool, fragment: CallFragment, out: &mut Vec<ReplyDelta>) {
        (self.has_calls, self.open) = (true, None);
        let fragment = CallFragment {
            index: u32::try_from(at).ok(),
            custom,
            ..fragment
        };
        out.push(ReplyDelta::Call {
            choice: CHOICE,
            fragment: Box::new(fragment),
        });
    }

    /// A whole block.
    pub(super) fn block(&mut self, block: Block, out: &mut Vec<ReplyDelta>) {
        self.open = None;
        out.push(ReplyDelta::Block {
            choice: CHOICE,
            block: Box::new(block),
        });
    }

    /// Keeps what the API wants back of a message on its last text, or on an empty one where it only refused. Text that
    /// something else has followed stays without: it goes back as plain text.
    pub(super) fn seal_message(
        &mut self,
        at: usize,
        seen: &mut Item,
        mut item: Map<String, Value>,
        is_refused: bool,
        out: &mut Vec<ReplyDelta>,
    ) {
        let part = self.open.filter(|(open, _)| *open == at).map(|(_, part)| part);
        let only_refused = is_refused && !seen.has_spoken();
        if part.is_none() && !only_refused {
            return;
        }
        item.retain(|name, value| !value.is_null() && name != "type" && name != "role");
        if is_refused {
            item.insert(REFUSAL.to_owned(), true.into());
        }
        match part {
            Some(part) => keep_part(seen, part, &mut item),
            None => self.close(out),
        }
        self.seal(SealedBlock::Text, vendor::keep(item), out);
    }

    /// Keeps a reasoning item as it came, on its last text or on an empty one.
    pub(super) fn seal_reasoning(&mut self, at: usize, item: Map<String, Value>, out: &mut Vec<ReplyDelta>) {
        if self.open.is_some_and(|(open, _)| open != at) {
            self.close(out);
        }
        self.seal(SealedBlock::Reasoning, vendor::keep(item), out);
    }

    pub(super) fn annotations(&mut self, annotations: Vec<Value>, out: &mut Vec<ReplyDelta>) {
        if !annotations.is_empty() {
            out.push(member(Place::Message(CHOICE), "annotations", annotations.into()));
        }
    }

    /// Log probabilities, in the shape of the Chat Completions API.
    pub(super) fn logprobs(&mut self, tokens: Vec<Value>, out: &mut Vec<ReplyDelta>) {
        if !tokens.is_empty() {
            let value = Map::from_iter([("content".to_owned(), Value::Array(tokens))]);
            out.push(member(Place::Choice(CHOICE), "logprobs", value.into()));
        }
    }

    /// Why the answer ended: of a complete one, calls and a refusal say more. The server's own word is kept.
    pub(super) fn finish(&mut self, reason: FinishReason, word: &str, out: &mut Vec<ReplyDelta>) {
        let reason = match reason {
            FinishReason::Stop if self.has_calls => FinishReason::ToolCalls,
            FinishReason::Stop if self.has_refusal => FinishReason::Refusal,
            reason => reason,
        };
        if word != "completed" && reason.as_str() != word {
            out.push(member(Place::Choice(CHOICE), "native_finish_reason", word.into()));
        }
        out.push(ReplyDelta::Finish { choice: CHOICE, reason });
    }

    /// Ends the text of another part. One of the same message is sealed, so that it goes back as part of it.
    fn turn_to(&mut self, at: usize, item: &mut Item, part: u64, out: &mut Vec<ReplyDelta>) {
        match self.open {
            Some(open) if open == (at, part) => return,
            Some((open, before)) if open == at && item.kind == Kind::Message => {
                let mut data = Map::new();
                if !item.id.is_empty() {
                    data.insert("id".to_owned(), (*item.id).into());
                }
                keep_part(item, before, &mut data);
                self.seal(SealedBlock::Text, vendor::keep(data), out);
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

/// Keeps what was noted on a part.
fn keep_part(item: &mut Item, part: u64, data: &mut Map<String, Value>) {
    let annotations = item.parts.annotations(part).clone();
    if !annotations.is_empty() {
        let members = Map::from_iter([("annotations".to_owned(), Value::Array(annotations))]);
        data.insert(PART.to_owned(), members.into());
    }
}

/// A member that has no delta of its own.
pub(super) fn member(place: Place, name: &str, value: Value) -> ReplyDelta {
    ReplyDelta::Member {
        place,
        name: name.into(),
        value,
    }
}
