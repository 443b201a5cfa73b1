//! [`OutputPart`] and [`MemoryHit`]: what an output consists of, and what memory contributes.

use serde::{Deserialize, Serialize};

/// A part of the output that is expected, and its content as soon as there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputPart {
    /// The id, unique in the output.
    pub id: String,
    /// The expectation, in words.
    pub expected: String,
    /// The content; empty until it is written.
    #[serde(default)]
    pub content: String,
    /// The type, for example `text`, `table` or `image`.
    #[serde(rename = "type")]
    pub kind: String,
}

impl OutputPart {
    /// Creates a part without content.
    pub fn new(id: impl Into<String>, kind: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            expected: expected.into(),
            content: String::new(),
            kind: kind.into(),
        }
    }
}

/// An item or a page that was recalled from memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MemoryHit {
    /// The id of the item or page.
    pub id: String,
    /// The text.
    pub content: String,
    /// How well it matches; larger is better.
    #[serde(default)]
    pub score: f64,
}

impl MemoryHit {
    /// Creates a hit.
    pub fn new(id: impl Into<String>, content: impl Into<String>, score: f64) -> Self {
        Self {
            id: id.into(),
            content: content.into(),
            score,
        }
    }
}
