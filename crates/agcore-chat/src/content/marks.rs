//! [`Marks`]: annotations of a message, content part or tool that the API has no member for.

use serde::{Deserialize, Serialize};

use crate::object::Member;

/// The name of the one JSON member that holds everything the Chat Completions API has no member for.
///
/// Wires leave it out of the requests they send; stores, cassettes and exports keep it.
pub const EXTENSION_MEMBER: &str = "agcore";

/// A point up to which the vendor should cache the prompt. Wires that cannot express it leave it out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CacheMark {
    /// How long the vendor should keep the cached prompt, in the vendor's own notation (`5m`, `1h`); `None` is the
    /// vendor's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

impl CacheMark {
    /// Creates a mark with the vendor's default lifetime.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the lifetime, in the vendor's own notation (`5m`, `1h`).
    #[must_use]
    pub fn with_ttl(mut self, ttl: impl Into<String>) -> Self {
        self.ttl = Some(ttl.into());
        self
    }
}

/// The origin of content that neither a person nor the model wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// A summary of older messages, written by a compaction.
    Summary,
    /// Context that was added for one request: a snapshot of session memory, retrieved knowledge.
    Context,
    /// A note that another agent took over the conversation; not displayed.
    Handoff,
    /// A placeholder for content that was removed: an old tool result by a compaction, or media that the model cannot read.
    Pruned,
    /// A hint for the model: how to repair its output, or that it has no rounds left.
    Hint,
    /// Any other origin, named by the application.
    #[serde(untagged)]
    Other(String),
}

/// Annotations of a message, a content part or a tool. Their JSON is in the member [`EXTENSION_MEMBER`].
///
/// ```
/// use agcore_chat::{CacheMark, ContentPart, Marks};
/// use serde_json::json;
///
/// let manual = ContentPart::text("The manual.").with_marks(Marks::new().with_cache(CacheMark::new().with_ttl("1h")));
/// assert_eq!(
///     serde_json::to_value(&manual)?,
///     json!({"type": "text", "text": "The manual.", "agcore": {"cache": {"ttl": "1h"}}})
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Marks {
    /// A request to the vendor to cache the prompt up to and including this item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMark>,
    /// Where the item comes from, if neither a person nor the model wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// On a tool message: whether the call failed. Sent to the model if the API has a member for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl Marks {
    /// Creates an empty set of marks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the cache mark.
    #[must_use]
    pub fn with_cache(mut self, cache: CacheMark) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets the origin of the marked item.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Sets whether the tool call failed.
    #[must_use]
    pub fn with_error(mut self, is_error: bool) -> Self {
        self.is_error = is_error;
        self
    }

    /// Returns whether no mark is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Member for Marks {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}
