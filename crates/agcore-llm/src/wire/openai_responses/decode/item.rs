//! [`Item`]: what was seen of one item of the output so far.

use serde_json::Value;

use super::{call::CallProgress, channel::Channel};

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
    parts: Vec<Part>,
    /// What was told last. Reasoning may come twice, itself and as a summary; what came first counts.
    channel: Option<Channel>,
}

/// One part of an item's content or summary.
#[derive(Debug, Default)]
pub(super) struct Part {
    index: u64,
    /// Whether its text was told.
    pub(super) is_told: bool,
    pub(super) annotations: Vec<Value>,
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
            parts: Vec::new(),
            channel: None,
        }
    }

    /// The part of this number.
    pub(super) fn part(&mut self, index: u64) -> &mut Part {
        let at = self.parts.iter().position(|part| part.index == index);
        let at = at.unwrap_or_else(|| {
            self.parts.push(Part {
                index,
                ..Part::default()
            });
            self.parts.len() - 1
        });
        &mut self.parts[at]
    }

    /// Notes that a part is told in a channel, unless that does not count.
    pub(super) fn hear(&mut self, part: u64, channel: Channel) -> bool {
        let other = self.channel.is_some_and(|heard| heard != channel);
        if self.is_done || (self.kind == Kind::Reasoning && other) {
            return false;
        }
        if channel != Channel::Refusal {
            self.channel = Some(channel);
        }
        self.part(part).is_told = true;
        true
    }

    /// Whether text or reasoning was told.
    pub(super) fn has_spoken(&self) -> bool {
        self.channel.is_some()
    }

    /// Takes what was noted on its parts.
    pub(super) fn take_annotations(&mut self) -> Vec<Value> {
        let parts = self.parts.iter_mut();
        parts.flat_map(|part| std::mem::take(&mut part.annotations)).collect()
    }
}
