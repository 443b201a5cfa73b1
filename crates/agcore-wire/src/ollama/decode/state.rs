//! [`State`]: what the decoder keeps between lines.

use agcore_chat::VendorData;
use serde_json::Value;

use super::{
    finish,
    message::{KeptMembers, Message, push_members},
    usage::Counts,
};
use crate::{
    delta::{Place, ReplyDelta, ReplyStart, SealedBlock},
    ollama::vendor::{CHOICE, VENDOR},
};

/// The state of a reply.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The context window that was set for the model.
    num_ctx: Option<u64>,
    pub(super) start: ReplyStart,
    pub(super) members: KeptMembers,
    is_started: bool,
    calls: u32,
    /// Whether reasoning was emitted that is not sealed yet.
    is_reasoning: bool,
}

impl State {
    pub(super) fn new(num_ctx: Option<u64>) -> Self {
        Self {
            num_ctx,
            ..Self::default()
        }
    }

    /// Discards everything, because the reply will be parsed again.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.num_ctx);
    }

    /// Returns whether any part of a reply was read.
    pub(super) fn is_started(&self) -> bool {
        self.is_started
    }

    /// Emits the start if it was not emitted yet or has changed since.
    pub(super) fn push_start(&mut self, has_changed: bool, out: &mut Vec<ReplyDelta>) {
        if has_changed || !self.is_started {
            self.is_started = true;
            out.push(ReplyDelta::Start(Box::new(self.start.clone())));
        }
    }

    /// Emits a message. Its reasoning comes before its text, and each of its calls is a new one.
    pub(super) fn push_message(&mut self, message: Message, out: &mut Vec<ReplyDelta>) {
        let choice = CHOICE;
        if let Some(text) = message.thinking {
            self.is_reasoning = true;
            out.push(ReplyDelta::Reasoning { choice, text });
        }
        if message.content.is_some() || !message.calls.is_empty() {
            self.seal_reasoning(out);
        }
        out.extend(message.content.map(|text| ReplyDelta::Text { choice, text }));
        for mut fragment in message.calls {
            fragment.index = Some(self.calls);
            self.calls = self.calls.saturating_add(1);
            out.push(ReplyDelta::Call {
                choice,
                fragment: Box::new(fragment),
            });
        }
        push_members(Place::Message(choice), message.members, out);
    }

    /// Marks the reasoning as Ollama's, so that it is never sent to another vendor.
    fn seal_reasoning(&mut self, out: &mut Vec<ReplyDelta>) {
        if std::mem::take(&mut self.is_reasoning) {
            out.push(ReplyDelta::Seal {
                choice: CHOICE,
                block: SealedBlock::Reasoning,
                vendor: Box::new(VendorData::new(VENDOR, Value::Null)),
            });
        }
    }

    /// Ends the reply.
    pub(super) fn finish(&mut self, reason: Option<&str>, counts: &Counts, out: &mut Vec<ReplyDelta>) {
        counts.warn_if_window_is_full(self.num_ctx);
        self.seal_reasoning(out);
        counts.push(out);
        out.push(ReplyDelta::Finish {
            choice: CHOICE,
            reason: finish::reason(reason),
        });
    }
}
