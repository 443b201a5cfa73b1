//! Blanks around tags: what `~` trims, and lines that hold only a block tag.
//!
//! As in Handlebars (<https://handlebarsjs.com/guide/expressions.html#whitespace-control>): a tag that prints nothing
//! and is alone on its line takes the whole line with it.

use super::lexer::{Tag, TagKind};

/// What of the text next to a tag is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Trim {
    /// Nothing.
    #[default]
    None,
    /// The rest of the tag's line.
    Line,
    /// All blanks, line ends included.
    All,
}

/// What of the text before and behind the tag is left out.
pub(super) fn trims(source: &str, tag: &Tag<'_>) -> (Trim, Trim) {
    let line = if is_alone(source, tag) { Trim::Line } else { Trim::None };
    (
        if tag.trims_before { Trim::All } else { line },
        if tag.trims_after { Trim::All } else { line },
    )
}

impl Trim {
    /// The text without what is left out at its end.
    pub(super) fn end(self, text: &str) -> &str {
        match self {
            Self::None => text,
            Self::Line => text.trim_end_matches(is_blank),
            Self::All => text.trim_end(),
        }
    }

    /// The text without what is left out at its start.
    pub(super) fn start(self, text: &str) -> &str {
        match self {
            Self::None => text,
            Self::Line => {
                let rest = text.trim_start_matches(is_blank);
                line_end(rest).unwrap_or(rest)
            }
            Self::All => text.trim_start(),
        }
    }
}

/// Whether a tag that prints nothing stands alone on its line. The end of the source ends a line only right behind
/// the tag.
fn is_alone(source: &str, tag: &Tag<'_>) -> bool {
    if matches!(tag.kind, TagKind::Print(_)) {
        return false;
    }
    let before = source[..tag.start].trim_end_matches(is_blank);
    let behind = &source[tag.end..];
    (before.is_empty() || before.ends_with('\n'))
        && (behind.is_empty() || line_end(behind.trim_start_matches(is_blank)).is_some())
}

/// What follows the line end that the text starts with.
fn line_end(text: &str) -> Option<&str> {
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'))
}

fn is_blank(character: char) -> bool {
    character == ' ' || character == '\t'
}
