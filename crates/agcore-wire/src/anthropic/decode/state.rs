//! [`State`]: what the decoder keeps between events.

use std::borrow::Cow;

use agcore_chat::{Block, Reasoning, Text, VendorData};
use serde_json::{Map, Value};

use super::{
    block::{OpenBlock, OpenKind, StartedBlock},
    call,
    delta::Delta,
    finish,
    message::Message,
    usage::RawUsage,
};
use crate::{
    anthropic::vendor::{CHOICE, REDACTED_THINKING, SIGNATURE, STOP_REASON},
    decode::{
        finish::{push_finish, push_missing_finish},
        lenient::non_empty,
    },
    delta::{Place, ReplyDelta, ReplyStart, SealedBlock},
};

/// The state of a reply.
#[derive(Debug)]
pub(super) struct State {
    vendor: Cow<'static, str>,
    /// The id of the message, once a message has started.
    id: Option<Text>,
    is_start_sent: bool,
    /// Blocks that have not ended. Some servers let them overlap.
    open: Vec<OpenBlock>,
    /// The index of the block to which the fold appends text and thinking.
    current: Option<u32>,
    usage: RawUsage,
    is_finished: bool,
}

impl State {
    pub(super) fn new(vendor: Cow<'static, str>) -> Self {
        Self {
            vendor,
            id: None,
            is_start_sent: false,
            open: Vec::new(),
            current: None,
            usage: RawUsage::default(),
            is_finished: false,
        }
    }

    /// Discards everything, because the server started the reply again.
    pub(super) fn restart(&mut self) {
        *self = Self::new(std::mem::take(&mut self.vendor));
    }

    /// Returns whether a message has started.
    pub(super) fn has_message(&self) -> bool {
        self.id.is_some()
    }

    /// Returns whether nothing was received yet.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_start_sent && !self.is_finished && self.usage.is_empty()
    }

    /// Returns whether the answer has ended.
    pub(super) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns whether a starting message is the one that has already started.
    pub(super) fn is_same(&self, message: &Message) -> bool {
        self.id
            .as_ref()
            .is_some_and(|id| *id == message.id || message.id.is_empty() || id.is_empty())
    }

    /// Emits a message: all of a whole one, or the start of a streamed one.
    pub(super) fn push_message(&mut self, message: Message, out: &mut Vec<ReplyDelta>) {
        let text = |text: &Text| (!text.is_empty()).then(|| text.to_string());
        self.is_start_sent = true;
        self.id = Some(message.id.clone());
        out.push(ReplyDelta::Start(Box::new(ReplyStart {
            id: text(&message.id),
            model: text(&message.model),
            service_tier: message.usage.service_tier().map(str::to_owned),
            ..ReplyStart::default()
        })));
        for (index, block) in (0..).zip(message.content) {
            self.push_block(index, block, true, out);
            self.close_block(index, out);
        }
        let delta = Delta {
            stop_reason: message.stop_reason,
            members: message.members,
            ..Delta::default()
        };
        self.update_message(delta, message.usage, Vec::new(), out);
    }

    /// Emits news about the message as a whole.
    pub(super) fn update_message(
        &mut self,
        delta: Delta<'_>,
        usage: RawUsage,
        members: Vec<(Box<str>, Value)>,
        out: &mut Vec<ReplyDelta>,
    ) {
        let is_refusal = delta.stop_reason == finish::REFUSAL;
        let mut explanation = None;
        for (name, value) in delta.members.into_iter().chain(members) {
            if is_refusal && &*name == "stop_details" {
                explanation = finish::explanation(&value);
            }
            let place = Place::Choice(CHOICE);
            out.push(ReplyDelta::Member { place, name, value });
        }
        if let Some(native) = non_empty(delta.stop_reason) {
            self.flush(out);
            if let Some(text) = explanation {
                self.push_explanation(text, out);
            }
            self.is_finished = true;
            push_finish(CHOICE, finish::reason(&native), &native, out);
        }
        if !usage.is_empty() {
            self.usage.update(usage);
            let usage = self.usage.normalized();
            out.extend(usage.map(|usage| ReplyDelta::Usage(Box::new(usage))));
        }
    }

    /// Emits the vendor's explanation of a refusal, and an empty text that distinguishes it from words of the model.
    fn push_explanation(&self, text: Text, out: &mut Vec<ReplyDelta>) {
        out.push(ReplyDelta::Refusal { choice: CHOICE, text });
        let data = Map::from_iter([(STOP_REASON.to_owned(), finish::REFUSAL.into())]);
        out.push(ReplyDelta::Seal {
            choice: CHOICE,
            block: SealedBlock::Text,
            vendor: Box::new(VendorData::new(&*self.vendor, data)),
        });
    }

    /// Closes all open blocks when the reply ends early. Thinking whose signature has not arrived cannot be sent back.
    pub(super) fn interrupt(&mut self, out: &mut Vec<ReplyDelta>) {
        for block in &mut self.open {
            if block.data.get(SIGNATURE).is_some_and(|signature| signature == "") {
                block.data.shift_remove(SIGNATURE);
            }
        }
        self.flush(out);
    }

    /// Ends the reply, which may have no stop reason: a whole reply, or a stream that has reached its terminal event.
    pub(super) fn end(&mut self, is_whole: bool, out: &mut Vec<ReplyDelta>) {
        self.flush(out);
        if !std::mem::replace(&mut self.is_finished, true) {
            push_missing_finish(CHOICE, is_whole, out);
        }
    }

    /// Closes all open blocks.
    pub(super) fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        while let Some(block) = self.open.first() {
            self.close_block(block.index, out);
        }
    }

    /// Starts a block of a stream.
    pub(super) fn start_block(&mut self, index: u32, block: StartedBlock, out: &mut Vec<ReplyDelta>) {
        self.push_block(index, block, false, out);
    }

    fn push_block(&mut self, index: u32, mut block: StartedBlock, is_complete: bool, out: &mut Vec<ReplyDelta>) {
        self.ensure_start(out);
        self.close_block(index, out);
        self.switch_to(None, out);
        match block.kind.as_str() {
            "text" => {
                let text = std::mem::take(&mut block.text);
                self.open
                    .push(OpenBlock::new(index, OpenKind::Text, block.take_members()));
                self.push_text(index, text, out);
            }
            "thinking" => {
                let text = std::mem::take(&mut block.thinking);
                let data = block.take_signed_members();
                self.open.push(OpenBlock::new(index, OpenKind::Thinking, data));
                self.push_reasoning(index, text, out);
            }
            REDACTED_THINKING => {
                let vendor = VendorData::new(&*self.vendor, block.into_raw());
                let block = Block::Reasoning(Reasoning::new("").with_vendor(vendor));
                out.push(whole_block(block));
            }
            "tool_use" => {
                let input = call::arguments(block.input.as_deref(), is_complete);
                let kind = OpenKind::Call {
                    has_input: input.is_some(),
                };
                self.open.push(OpenBlock::new(index, kind, Map::new()));
                out.push(call::start(index, block, input, &self.vendor));
            }
            "" => {}
            _ => self.open.push(OpenBlock::new(index, OpenKind::Raw, block.into_raw())),
        }
    }

    /// Appends a delta to a block.
    pub(super) fn append(&mut self, index: u32, delta: Delta<'_>, out: &mut Vec<ReplyDelta>) {
        let at = match self.open.iter().position(|block| block.index == index) {
            Some(at) => at,
            None => {
                let Some(block) = OpenBlock::implied_by(index, &delta) else {
                    return;
                };
                self.ensure_start(out);
                self.open.push(block);
                self.open.len() - 1
            }
        };
        let block = &mut self.open[at];
        if block.kind == OpenKind::Raw {
            return block.merge(delta);
        }
        if let Some(signature) = non_empty(delta.signature) {
            block.data.insert(SIGNATURE.into(), signature.as_str().into());
        }
        if let Some(citation) = delta.citation {
            block.add_citation(citation);
        }
        let replaces_input = !delta.partial_json.is_empty() && block.take_replaces_input();
        self.push_text(index, delta.text, out);
        self.push_reasoning(index, delta.thinking, out);
        if let Some(input) = non_empty(delta.partial_json) {
            self.switch_to(None, out);
            out.push(call::piece(index, input, replaces_input));
        }
    }

    fn push_text(&mut self, index: u32, text: Text, out: &mut Vec<ReplyDelta>) {
        if !text.is_empty() {
            self.switch_to(Some(index), out);
            out.push(ReplyDelta::Text { choice: CHOICE, text });
        }
    }

    fn push_reasoning(&mut self, index: u32, text: Text, out: &mut Vec<ReplyDelta>) {
        if !text.is_empty() {
            self.switch_to(Some(index), out);
            out.push(ReplyDelta::Reasoning { choice: CHOICE, text });
        }
    }

    /// Ends a block.
    pub(super) fn close_block(&mut self, index: u32, out: &mut Vec<ReplyDelta>) {
        let Some(at) = self.open.iter().position(|block| block.index == index) else {
            return;
        };
        let mut block = self.open.remove(at);
        match block.kind {
            OpenKind::Call { .. } => {}
            OpenKind::Raw => {
                self.switch_to(None, out);
                let item = VendorData::new(&*self.vendor, block.into_raw());
                out.push(whole_block(Block::Hosted(item)));
            }
            OpenKind::Text | OpenKind::Thinking => {
                let is_current = self.current == Some(index);
                if is_current {
                    self.current = None;
                } else {
                    self.switch_to(None, out);
                }
                if is_current || !block.data.is_empty() {
                    self.seal(block.kind, std::mem::take(&mut block.data), out);
                }
            }
        }
    }

    /// Makes another block the one that the fold appends to, and seals the previous one.
    fn switch_to(&mut self, next: Option<u32>, out: &mut Vec<ReplyDelta>) {
        if self.current == next {
            return;
        }
        if let Some(previous) = std::mem::replace(&mut self.current, next)
            && let Some(block) = self.open.iter_mut().find(|block| block.index == previous)
        {
            let (kind, data) = (block.kind, std::mem::take(&mut block.data));
            self.seal(kind, data, out);
        }
    }

    /// Ends the fold's open block. Thinking always gets vendor data, so that it is never sent to another vendor.
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

    /// Emits an empty start if a stream begins in the middle of a message.
    fn ensure_start(&mut self, out: &mut Vec<ReplyDelta>) {
        if !std::mem::replace(&mut self.is_start_sent, true) {
            out.push(ReplyDelta::Start(Box::default()));
        }
    }
}

fn whole_block(block: Block) -> ReplyDelta {
    ReplyDelta::Block {
        choice: CHOICE,
        block: Box::new(block),
    }
}
