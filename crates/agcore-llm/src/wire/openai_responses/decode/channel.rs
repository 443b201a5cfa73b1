//! [`Channel`]: which of an item's texts is said.

use serde_json::{Map, Value};

use super::json::{text_of, type_of};

/// In which of an item's texts something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channel {
    /// Visible text.
    Text,
    /// A refusal.
    Refusal,
    /// A summary of reasoning.
    Summary,
    /// Reasoning itself, of open models.
    Reasoning,
}

impl Channel {
    /// The channel of which an event tells a piece.
    pub(super) fn of_delta(topic: &str) -> Option<Self> {
        Some(match topic {
            "output_text.delta" => Self::Text,
            "refusal.delta" => Self::Refusal,
            "reasoning_summary_text.delta" => Self::Summary,
            "reasoning_text.delta" => Self::Reasoning,
            _ => return None,
        })
    }

    /// All of them.
    pub(super) const ALL: [Self; 4] = [Self::Text, Self::Refusal, Self::Summary, Self::Reasoning];

    /// The channel and the text of a part; none of a part that nobody here knows.
    pub(super) fn read(part: &mut Map<String, Value>) -> Option<(Self, String)> {
        let (channel, member) = match type_of(part) {
            "output_text" | "text" => (Self::Text, "text"),
            "refusal" => (Self::Refusal, "refusal"),
            "summary_text" => (Self::Summary, "text"),
            "reasoning_text" => (Self::Reasoning, "text"),
            _ => return None,
        };
        Some((channel, text_of(part, member)))
    }
}
