//! [`Fault`]: what the compiler stumbles over, before it is given a place in the terms of lines and columns.

use crate::error::{Location, PromptError, PromptErrorKind};

/// Characters of the source that are shown as found.
const SHOWN: usize = 24;

/// What the compiler stumbles over.
#[derive(Debug)]
pub(super) struct Fault {
    at: usize,
    kind: PromptErrorKind,
}

impl Fault {
    /// Something else than expected stands at this byte offset.
    pub(super) fn syntax(at: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            at,
            kind: PromptErrorKind::Syntax {
                expected: expected.into(),
                found: found.into(),
            },
        }
    }

    /// The text that stands at this byte offset is not what was expected.
    pub(super) fn unexpected(at: usize, expected: impl Into<String>, text: &str) -> Self {
        Self::syntax(at, expected, shown(text))
    }

    /// Blocks are nested too deeply.
    pub(super) fn depth(at: usize, limit: usize) -> Self {
        Self {
            at,
            kind: PromptErrorKind::Depth { limit },
        }
    }

    /// The error that the caller sees.
    pub(super) fn locate(self, template: Option<&str>, source: &str) -> PromptError {
        PromptError::at(self.kind, Location::new(template, source, self.at))
    }
}

/// The beginning of a text, in quotes.
fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}…`", &line[..end]),
        None if line.is_empty() => "nothing".to_owned(),
        None => format!("`{line}`"),
    }
}
