//! [`Item`]: what was seen of one item of the output so far.

use super::{call::CallProgress, channel::Channel, parts::Parts};

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Visible text and refusals.
    Message,
    /// Reasoning.
    Reasoning,
    /// A call that we run.
    Call,
    /// Whatever else: what the vendor ran, and what nobody here knows.
    Hosted,
}

/// One item, on its way.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) index: Option<u64>,
    pub(super) id: Box<str>,
    pub(super) kind: Kind,
    /// Whether all of it was told.
    pub(super) is_done: bool,
    pub(super) call: CallProgress,
    pub(super) parts: Parts,
    /// What was told last. Reasoning may come twice, itself and as a summary; what came first counts.
    channel: Option<Channel>,
}

impl Kind {
    /// The kind of an item of this type.
    pub(super) fn of(kind: &str) -> Self {
        match kind {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" | "custom_tool_call" => Self::Call,
            _ => Self::Hosted,
        }
    }

    /// The kind of item in which something is said.
    pub(super) fn with(channel: Channel) -> Self {
        match channel {
            Channel::Text | Channel::Refusal => Self::Message,
            Channel::Summary | Channel::Reasoning => Self::Reasoning,
        }
    }
}

impl Item {
    pub(super) fn new(index: Option<u64>, id: &str, kind: Kind) -> Self {
        Self {
            index,
            id: id.into(),
            kind,
            is_done: false,
            call: CallProgress::default(),
            parts: Parts::default(),
            channel: None,
        }
    }

    /// Notes text that is told in a channel, unless that does not count; gives the number of its part.
    pub(super) fn hear(&mut self, part: u64, channel: Channel, text: &str) -> Option<u64> {
        let other = self.channel.is_some_and(|heard| heard != channel);
        if self.is_done || (self.kind == Kind::Reasoning && other) {
            return None;
        }
        if channel != Channel::Refusal {
            self.channel = Some(channel);
        }
        Some(self.parts.tell(part, channel, text))
    }

    /// Whether text or reasoning was told.
    pub(super) fn has_spoken(&self) -> bool {
        self.channel.is_some()
    }
}
