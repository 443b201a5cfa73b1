//! [`State`]: what a decoder must remember from one event to the next.

use std::borrow::Cow;

use agcore_chat::{Block, FinishReason, Reasoning, Text, VendorData};
use serde_json::{Map, Value};

use super::{
    block::StartedBlock,
    delta::Delta,
    finish,
    message::Message,
    open::{OpenBlock, OpenKind},
    usage::RawUsage,
};
use crate::{
    delta::{CallFragment, Place, ReplyDelta, ReplyStart, SealedBlock},
    wire::lenient::filled,
};

/// The API gives one answer.
const CHOICE: u32 = 0;

/// What was seen of a reply so far.
#[derive(Debug)]
pub(super) struct State {
    vendor: Cow<'static, str>,
    /// The message's id, once there is a message.
    id: Option<Text>,
    is_told: bool,
    /// Blocks that have not ended. Some servers let them overlap.
    open: Vec<OpenBlock>,
    /// The index of the block to which text and thinking append in the fold.
    current: Option<u32>,
    usage: RawUsage,
    is_finished: bool,
}

impl State {
    pub(super) fn new(vendor: Cow<'static, str>) -> Self {
        Self {
            vendor,
            id: None,
            is_told: false,
            open: Vec::new(),
            current: None,
            usage: RawUsage::default(),
            is_finished: false,
        }
    }

    /// Forgets what was seen: the server begins anew.
    pub(super) fn restart(&mut self) {
        *self = Self::new(std::mem::take(&mut self.vendor));
    }

    /// Whether a message has begun.
    pub(super) fn is_started(&self) -> bool {
        self.id.is_some()
    }

    /// Whether the answer has ended.
    pub(super) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Whether a message that begins is the one that has begun already.
    pub(super) fn is_same(&self, message: &Message) -> bool {
        self.id
            .as_ref()
            .is_some_and(|id| *id == message.id || message.id.is_empty() || id.is_empty())
    }

    /// Tells a message: all of it, or how it begins.
    pub(super) fn message(&mut self, message: Message, out: &mut Vec<ReplyDelta>) {
        let text = |text: &Text| (!text.is_empty()).then(|| text.to_string());
        self.is_told = true;
        self.id = Some(message.id.clone());
        out.push(ReplyDelta::Start(Box::new(ReplyStart {
            id: text(&message.id),
            model: text(&message.model),
            service_tier: message.usage.service_tier().map(str::to_owned),
            ..ReplyStart::default()
        })));
        for (index, block) in (0..).zip(message.content) {
            self.begin(index, block, true, out);
            self.close(index, out);
        }
        let delta = Delta {
            stop_reason: message.stop_reason,
            members: message.members,
            ..Delta::default()
        };
        self.message_delta(delta, message.usage, Vec::new(), out);
    }

    /// Tells what became known of the message as a whole.
    pub(super) fn message_delta(
        &mut self,
        delta: Delta,
        usage: RawUsage,
        members: Vec<(Box<str>, Value)>,
        out: &mut Vec<ReplyDelta>,
    ) {
        let is_refused = delta.stop_reason == "refusal";
        for (name, value) in delta.members.into_iter().chain(members) {
            if is_refused && &*name == "stop_details" {
                out.extend(explanation(&value).map(|text| ReplyDelta::Refusal { choice: CHOICE, text }));
            }
            let place = Place::Choice(CHOICE);
            out.push(ReplyDelta::Member { place, name, value });
        }
        if let Some(word) = filled(delta.stop_reason) {
            self.finish(&word, out);
        }
        if !usage.is_empty() {
            self.usage.update(usage);
            let usage = self.usage.normalised();
            out.extend(usage.map(|usage| ReplyDelta::Usage(Box::new(usage))));
        }
    }

    fn finish(&mut self, word: &str, out: &mut Vec<ReplyDelta>) {
        self.flush(out);
        self.is_finished = true;
        let reason = finish::reason(word);
        if reason.as_str() != word {
            out.push(ReplyDelta::Member {
                place: Place::Choice(CHOICE),
                name: "native_finish_reason".into(),
                value: word.into(),
            });
        }
        out.push(ReplyDelta::Finish { choice: CHOICE, reason });
    }

    /// Ends the reply: a whole one has stopped, a stream with its terminal marker has ended for a reason nobody told.
    pub(super) fn end(&mut self, is_whole: bool, out: &mut Vec<ReplyDelta>) {
        self.flush(out);
        if !std::mem::replace(&mut self.is_finished, true) {
            let reason = if is_whole {
                FinishReason::Stop
            } else {
                FinishReason::Other("".into())
            };
            out.push(ReplyDelta::Finish { choice: CHOICE, reason });
        }
    }

    /// Tells what was held back.
    pub(super) fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        while let Some(block) = self.open.first() {
            self.close(block.index, out);
        }
    }

    /// A block begins.
    pub(super) fn open(&mut self, index: u32, block: StartedBlock, out: &mut Vec<ReplyDelta>) {
        self.begin(index, block, false, out);
    }

    fn begin(&mut self, index: u32, mut block: StartedBlock, is_whole: bool, out: &mut Vec<ReplyDelta>) {
        self.tell_start(out);
        self.close(index, out);
        self.leave(None, out);
        match block.kind.as_str() {
            "text" => {
                let text = std::mem::take(&mut block.text);
                self.open
                    .push(OpenBlock::new(index, OpenKind::Text, said(block.members)));
                self.text(index, text, out);
            }
            "thinking" => {
                let text = std::mem::take(&mut block.thinking);
                self.open
                    .push(OpenBlock::new(index, OpenKind::Thinking, said(block.members)));
                self.reasoning(index, text, out);
            }
            "redacted_thinking" => {
                let vendor = VendorData::new(&*self.vendor, block.into_raw());
                let block = Block::Reasoning(Reasoning::new("").with_vendor(vendor));
                out.push(whole(block));
            }
            "tool_use" => self.call(index, block, is_whole, out),
            "" => {}
            _ => self.open.push(OpenBlock::new(index, OpenKind::Raw, block.into_raw())),
        }
    }

    fn call(&mut self, index: u32, block: StartedBlock, is_whole: bool, out: &mut Vec<ReplyDelta>) {
        let input = block.arguments(is_whole);
        let kind = OpenKind::Call {
            has_input: input.is_some(),
        };
        self.open.push(OpenBlock::new(index, kind, Map::new()));
        let data = said(block.members);
        let fragment = CallFragment {
            index: Some(index),
            id: filled(block.id),
            name: filled(block.name),
            input,
            vendor: (!data.is_empty()).then(|| VendorData::new(&*self.vendor, data)),
            ..CallFragment::default()
        };
        out.push(ReplyDelta::Call {
            choice: CHOICE,
            fragment: Box::new(fragment),
        });
    }

    /// A block goes on.
    pub(super) fn extend(&mut self, index: u32, delta: Delta, out: &mut Vec<ReplyDelta>) {
        let at = match self.open.iter().position(|block| block.index == index) {
            Some(at) => at,
            None => {
                let Some(block) = OpenBlock::implied(index, &delta) else {
                    return;
                };
                self.tell_start(out);
                self.open.push(block);
                self.open.len() - 1
            }
        };
        let block = &mut self.open[at];
        if block.kind == OpenKind::Raw {
            return block.merge(delta);
        }
        if let Some(signature) = filled(delta.signature) {
            block.data.insert("signature".into(), signature.as_str().into());
        }
        if let Some(citation) = delta.citation {
            block.cite(citation);
        }
        let whole_input = !delta.partial_json.is_empty() && block.replaces_input();
        self.text(index, delta.text, out);
        self.reasoning(index, delta.thinking, out);
        if let Some(input) = filled(delta.partial_json) {
            self.leave(None, out);
            let fragment = CallFragment {
                index: Some(index),
                input: Some(input),
                whole_input,
                ..CallFragment::default()
            };
            out.push(ReplyDelta::Call {
                choice: CHOICE,
                fragment: Box::new(fragment),
            });
        }
    }

    fn text(&mut self, index: u32, text: Text, out: &mut Vec<ReplyDelta>) {
        if !text.is_empty() {
            self.leave(Some(index), out);
            out.push(ReplyDelta::Text { choice: CHOICE, text });
        }
    }

    fn reasoning(&mut self, index: u32, text: Text, out: &mut Vec<ReplyDelta>) {
        if !text.is_empty() {
            self.leave(Some(index), out);
            out.push(ReplyDelta::Reasoning { choice: CHOICE, text });
        }
    }

    /// A block ends.
    pub(super) fn close(&mut self, index: u32, out: &mut Vec<ReplyDelta>) {
        let Some(at) = self.open.iter().position(|block| block.index == index) else {
            return;
        };
        let mut block = self.open.remove(at);
        match block.kind {
            OpenKind::Call { .. } => {}
            OpenKind::Raw => {
                self.leave(None, out);
                let item = VendorData::new(&*self.vendor, block.into_raw());
                out.push(whole(Block::Hosted(item)));
            }
            OpenKind::Text | OpenKind::Thinking => {
                let is_current = self.current == Some(index);
                if is_current {
                    self.current = None;
                } else {
                    self.leave(None, out);
                }
                if is_current || !block.data.is_empty() {
                    self.seal(block.kind, std::mem::take(&mut block.data), out);
                }
            }
        }
    }

    /// The fold's open block ends, unless it is this one.
    fn leave(&mut self, next: Option<u32>, out: &mut Vec<ReplyDelta>) {
        if self.current == next {
            return;
        }
        if let Some(left) = std::mem::replace(&mut self.current, next)
            && let Some(block) = self.open.iter_mut().find(|block| block.index == left)
        {
            let (kind, data) = (block.kind, std::mem::take(&mut block.data));
            self.seal(kind, data, out);
        }
    }

    /// Thinking is always marked as this vendor's: it goes back to nobody else.
    fn seal(&self, kind: OpenKind, data: Map<String, Value>, out: &mut Vec<ReplyDelta>) {
        let block = match kind {
            OpenKind::Thinking => SealedBlock::Reasoning,
            _ if data.is_empty() => return out.push(ReplyDelta::BlockEnd { choice: CHOICE }),
            _ => SealedBlock::Text,
        };
        out.push(ReplyDelta::Seal {
            choice: CHOICE,
            block,
            vendor: Box::new(VendorData::new(&*self.vendor, data)),
        });
    }

    /// A start that says nothing, where a stream begins in the middle.
    fn tell_start(&mut self, out: &mut Vec<ReplyDelta>) {
        if !std::mem::replace(&mut self.is_told, true) {
            out.push(ReplyDelta::Start(Box::default()));
        }
    }
}

fn whole(block: Block) -> ReplyDelta {
    ReplyDelta::Block {
        choice: CHOICE,
        block: Box::new(block),
    }
}

/// The members that say something.
fn said(mut members: Map<String, Value>) -> Map<String, Value> {
    members.retain(|_, value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    });
    members
}

/// Why a request was refused, in words for people.
fn explanation(details: &Value) -> Option<Text> {
    let text = details.get("explanation")?.as_str()?;
    (!text.is_empty()).then(|| text.into())
}
