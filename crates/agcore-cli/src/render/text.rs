//! Sanitizing and measuring untrusted text, so that it can neither control nor flood the terminal.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// Replaces characters that are not shown.
const REPLACEMENT: char = '\u{fffd}';

/// Replaces control characters, except line breaks and tabs, and characters that override the direction of writing. Marks
/// that right-to-left text needs are kept.
pub(crate) fn sanitized(text: &str) -> Cow<'_, str> {
    let is_control = |c: char| {
        let overrides_direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        overrides_direction || (c.is_control() && !matches!(c, '\n' | '\t'))
    };
    if text.contains(is_control) {
        Cow::Owned(text.replace(is_control, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Puts text on one line and replaces control characters. Marks that change the direction of writing are replaced, too:
/// they can make a text look like another.
pub(crate) fn sanitized_line(text: &str) -> String {
    text.chars().map(sanitized_char).collect()
}

fn sanitized_char(c: char) -> char {
    match c {
        '\n' | '\t' => ' ',
        c if c.is_control() || changes_direction(c) => REPLACEMENT,
        c => c,
    }
}

/// Puts text on one sanitized line and truncates it to this many columns.
pub(crate) fn truncated(text: &str, columns: usize) -> String {
    let (mut line, mut used) = (String::new(), 0);
    for c in text.chars().map(sanitized_char) {
        used += width(c);
        if used > columns {
            return with_ellipsis(line, columns);
        }
        line.push(c);
    }
    line
}

/// Appends an ellipsis, removing characters from the end until it fits.
fn with_ellipsis(mut line: String, limit: usize) -> String {
    while columns(&line) >= limit && line.pop().is_some() {}
    line + "…"
}

/// Returns how many columns a text occupies.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

fn width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Returns whether this is an embedding, override or isolate of the bidirectional algorithm.
fn changes_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_control_characters() {
        assert_eq!(sanitized("a\u{1b}[2Jb\nc\t"), "a\u{fffd}[2Jb\nc\t");
        assert_eq!(
            sanitized_line("a\u{1b}[2Jb\r\nc\u{202e}"),
            "a\u{fffd}[2Jb\u{fffd} c\u{fffd}"
        );
    }

    #[test]
    fn truncates_to_columns() {
        let check = |text: &str, limit: usize, expected: &str| {
            let line = truncated(text, limit);
            assert_eq!(line, expected);
            assert!(columns(&line) <= limit, "{line}");
        };
        check("short", 5, "short");
        check("longer", 5, "long…");
        check("字字字", 6, "字字字");
        check("字字字字", 6, "字字…");
        check("a\nb", 5, "a b");
        check("", 0, "");
        check(&"x".repeat(1_000_000), 3, "xx…");
    }
}
