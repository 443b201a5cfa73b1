//! Whitespace around tags: trimming with `~`, and standalone tags.
//!
//! As in Handlebars (<https://handlebarsjs.com/guide/expressions.html#whitespace-control>), the whole line of a standalone
//! tag, which prints nothing and is the only thing on its line, is removed.

use super::lexer::{Tag, TagKind};

/// The part of the text next to a tag that the tag trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Trim {
    /// Nothing.
    #[default]
    None,
    /// The rest of the tag's line.
    Line,
    /// All whitespace, including line breaks.
    All,
}

/// Returns what a tag trims from the text before it and after it.
pub(super) fn trims(source: &str, tag: &Tag<'_>) -> (Trim, Trim) {
    let line = if is_standalone(source, tag) {
        Trim::Line
    } else {
        Trim::None
    };
    (
        if tag.trims_before { Trim::All } else { line },
        if tag.trims_after { Trim::All } else { line },
    )
}

impl Trim {
    /// Trims the end of a text.
    pub(super) fn end(self, text: &str) -> &str {
        match self {
            Self::None => text,
            Self::Line => text.trim_end_matches(is_blank),
            Self::All => text.trim_end(),
        }
    }

    /// Trims the start of a text.
    pub(super) fn start(self, text: &str) -> &str {
        match self {
            Self::None => text,
            Self::Line => {
                let rest = text.trim_start_matches(is_blank);
                strip_line_end(rest).unwrap_or(rest)
            }
            Self::All => text.trim_start(),
        }
    }
}

/// Returns whether a tag is standalone. The end of the source counts as the end of a line only directly after the tag.
fn is_standalone(source: &str, tag: &Tag<'_>) -> bool {
    if matches!(tag.kind, TagKind::Print(_)) {
        return false;
    }
    let before = source[..tag.start].trim_end_matches(is_blank);
    let after = &source[tag.end..];
    (before.is_empty() || before.ends_with('\n'))
        && (after.is_empty() || strip_line_end(after.trim_start_matches(is_blank)).is_some())
}

/// Strips a line break from the start of a text.
fn strip_line_end(text: &str) -> Option<&str> {
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'))
}

fn is_blank(character: char) -> bool {
    character == ' ' || character == '\t'
}
