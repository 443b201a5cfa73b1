//! [`ParseError`]: a parse error at a byte offset, before it gets a line and a column.

use crate::error::{Location, PromptError, PromptErrorKind};

/// The number of characters of unexpected text that an error quotes.
const MAX_QUOTED_CHARS: usize = 24;

/// A parse error at a byte offset of the source.
#[derive(Debug)]
pub(super) struct ParseError {
    offset: usize,
    kind: PromptErrorKind,
}

impl ParseError {
    /// Creates an error for invalid syntax.
    pub(super) fn syntax(offset: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            offset,
            kind: PromptErrorKind::Syntax {
                expected: expected.into(),
                found: found.into(),
            },
        }
    }

    /// Creates an error for unexpected text, and quotes its start.
    pub(super) fn unexpected(offset: usize, expected: impl Into<String>, text: &str) -> Self {
        Self::syntax(offset, expected, quoted(text))
    }

    /// Creates an error for blocks that are nested too deeply.
    pub(super) fn depth(offset: usize, limit: usize) -> Self {
        Self {
            offset,
            kind: PromptErrorKind::Depth { limit },
        }
    }

    /// Converts the error into a [`PromptError`] with a line, a column and an excerpt.
    pub(super) fn locate(self, template: Option<&str>, source: &str) -> PromptError {
        PromptError::at(self.kind, Location::new(template, source, self.offset))
    }
}

/// Quotes the start of the first line of a text.
fn quoted(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("`{}…`", &line[..end]),
        None if line.is_empty() => "nothing".to_owned(),
        None => format!("`{line}`"),
    }
}
