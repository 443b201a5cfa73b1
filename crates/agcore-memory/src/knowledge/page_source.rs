//! [`PageSource`]: the place of a page in a source.

use agcore_chat::SourcePosition;
use serde::{Deserialize, Serialize};

/// The source of a page, and the place of the page in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PageSource {
    /// The id of the [`KnowledgeSource`](super::KnowledgeSource).
    pub id: String,
    /// The place.
    #[serde(default, skip_serializing_if = "SourcePosition::is_empty")]
    pub position: SourcePosition,
}

impl PageSource {
    /// Creates a place in a source.
    pub fn new(id: impl Into<String>, position: SourcePosition) -> Self {
        Self {
            id: id.into(),
            position,
        }
    }
}
