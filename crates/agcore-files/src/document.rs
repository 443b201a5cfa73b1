//! [`Document`]: the text of a file, in passages.

use serde::{Deserialize, Serialize};

use crate::kind::FileKind;

/// Where a passage begins and ends.
///
/// Characters are Unicode scalar values. They are counted in the text of the document: for text, Markdown and JSON that is the
/// decoded file itself, for other kinds the text that was extracted from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Position {
    /// The page on which the passage begins, from 1, if the file has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line of the file on which the passage begins, from 1, if the file has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The number of characters before the passage.
    pub start: usize,
    /// The number of characters before the end of the passage.
    pub end: usize,
    /// The headings above the passage, the outermost first. In JSON, the names of the members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
}

/// A part of a document that is short enough to be searched and quoted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Passage {
    /// The text; never empty.
    pub text: String,
    /// Where it is.
    pub position: Position,
}

/// The text of a file, in passages that do not overlap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Document {
    /// The name of the file.
    pub name: String,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: FileKind,
    /// The title that the file gives itself, or its first heading of the first level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The passages, in the order of the file.
    pub passages: Vec<Passage>,
}

impl Document {
    /// Returns the text of all passages, with blank lines between them.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.passages.iter().map(|passage| passage.text.as_str()).collect();
        texts.join("\n\n")
    }
}
