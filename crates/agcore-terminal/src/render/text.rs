//! Measuring and truncating untrusted text, so that it cannot flood the terminal.

use agcore_chat::text::sanitized_chars;
pub use agcore_chat::text::{sanitized, sanitized_line};
use unicode_width::UnicodeWidthChar;

/// The distance of the tab stops of a terminal.
pub(super) const TAB: usize = 8;

/// Puts text on one sanitized line and truncates it to this many columns.
pub fn truncated(text: &str, columns: usize) -> String {
    let (mut line, mut used) = (String::new(), 0);
    for c in sanitized_chars(text) {
        used += width(c);
        if used > columns {
            return with_ellipsis(line, columns);
        }
        line.push(c);
    }
    line
}

/// Puts text on one sanitized line and keeps its end, up to this many columns.
pub fn truncated_start(text: &str, columns: usize) -> String {
    let line = sanitized_line(text);
    if self::columns(&line) <= columns {
        return line;
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += width(*c);
        used <= columns
    };
    let end: Vec<char> = line.chars().rev().take_while(fits).collect();
    std::iter::once('…').chain(end.into_iter().rev()).collect()
}

/// Appends an ellipsis, removing characters from the end until it fits.
fn with_ellipsis(mut line: String, limit: usize) -> String {
    while columns(&line) >= limit && line.pop().is_some() {}
    line + "…"
}

/// Returns an error and what happens next, as one sentence if the error is not a question.
pub(super) fn continued(error: &str, next: &str) -> String {
    let error = sanitized(error);
    let mut letters = next.chars();
    match (error.trim_end_matches('.'), letters.next()) {
        (question, Some(first)) if question.ends_with('?') => {
            format!("{question} {}{}", first.to_uppercase(), letters.as_str())
        }
        (clause, _) => format!("{clause}; {next}"),
    }
}

/// Returns how many columns a text occupies.
pub fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

/// Returns the column of the cursor after a text that the terminal wraps at this width.
pub(super) fn column_after(column: usize, text: &str, window: usize) -> usize {
    text.chars().fold(column, |column, c| match (c, width(c)) {
        ('\n', _) => 0,
        ('\t', _) => (column / TAB + 1) * TAB,
        (_, width) if column + width > window => width,
        (_, width) => column + width,
    })
}

fn width(c: char) -> usize {
    c.width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_continued() {
        let check = |error: &str, expected: &str| assert_eq!(continued(error, "attempt 2 in 1.0 s"), expected);
        check("the server is busy", "the server is busy; attempt 2 in 1.0 s");
        check("Please slow down.", "Please slow down; attempt 2 in 1.0 s");
        check("is it running?", "is it running? Attempt 2 in 1.0 s");
    }

    #[test]
    fn follows_the_cursor() {
        let check = |text: &str, expected: usize| assert_eq!(column_after(2, text, 10), expected, "{text}");
        check("abc", 5);
        check("a\nbc", 2);
        check("a\tb", 9);
        // The last column stays empty if a wide character does not fit.
        check("abcdefg字", 2);
        check("abcdefgh", 10);
        check("abcdefghi", 1);
    }

    #[test]
    fn keeps_the_end() {
        let check = |text: &str, limit: usize, expected: &str| assert_eq!(truncated_start(text, limit), expected);
        check("短文\u{1b}", 5, "短文\u{fffd}");
        check("abcdef", 6, "abcdef");
        check("abcdef", 5, "…cdef");
        // A wide character does not fit into one column.
        check("一二三四", 6, "…三四");
        check("一二\n三四", 6, "… 三四");
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
