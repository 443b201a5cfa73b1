//! [`Marks`]: what agcore notes on a message, part or tool beyond the API's own members, all in one extension member.

use serde::{Deserialize, Serialize};

use crate::object::Member;

/// Name of the one member that holds everything the Chat Completions API has no place for.
///
/// Wires leave it out of what they send; stores, cassettes and exports keep it.
pub const EXTENSION_MEMBER: &str = "agcore";

/// A place up to which the vendor shall cache the prompt. Wires that cannot express it leave it out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CacheMark {
    /// How long the vendor shall keep it, in the vendor's own words (`5m`, `1h`); none is the vendor's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

impl CacheMark {
    /// A mark with the vendor's default life time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the life time, in the vendor's own words (`5m`, `1h`).
    pub fn with_ttl(mut self, ttl: impl Into<String>) -> Self {
        self.ttl = Some(ttl.into());
        self
    }
}

/// Why a piece of content stands in the history although no person and no model wrote it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// A summary of older messages, made by a compaction.
    Summary,
    /// Context of the moment: a session-memory snapshot, retrieved knowledge.
    Context,
    /// A note that another agent took over; hidden from display.
    Handoff,
    /// What stands in place of an old tool result that a compaction took out.
    Pruned,
    /// A hint to the model: how to repair its output, that its rounds are over.
    Hint,
    /// Anything else, named by the application.
    #[serde(untagged)]
    Other(String),
}

/// What agcore notes on a message, a content part or a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Marks {
    /// Cache the prompt up to and including this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMark>,
    /// Why this is here, when neither a person nor a model wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// On a tool message: the call failed. Wires that can tell the model so do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl Marks {
    /// No marks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a cache mark.
    pub fn with_cache(mut self, cache: CacheMark) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Says why the marked thing is here.
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Says that the tool call failed.
    pub fn with_error(mut self, is_error: bool) -> Self {
        self.is_error = is_error;
        self
    }

    /// Whether nothing is marked.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Member for Marks {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}
