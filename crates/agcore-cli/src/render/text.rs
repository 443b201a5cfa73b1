//! Foreign text on a terminal: it must neither steer it nor fill it.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// Stands for what is not shown.
const MARK: char = '\u{fffd}';

/// Text without control characters, line breaks and tabs apart.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if text.contains(steers) {
        Cow::Owned(text.replace(steers, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Text as one line. Marks that turn the direction of writing are not obeyed: they make a text look like another.
pub(crate) fn harmless_line(text: &str) -> String {
    text.chars().map(harmless_char).collect()
}

fn harmless_char(c: char) -> char {
    match c {
        '\n' | '\t' => ' ',
        c if c.is_control() || turns(c) => MARK,
        c => c,
    }
}

/// One line that takes at most this many columns.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    let (mut line, mut taken) = (String::new(), 0);
    for c in text.chars().map(harmless_char) {
        taken += width(c);
        if taken > columns {
            return cut(line, columns);
        }
        line.push(c);
    }
    line
}

/// The line with a mark that something is missing, for which the end gives way.
fn cut(mut line: String, limit: usize) -> String {
    while columns(&line) >= limit && line.pop().is_some() {}
    line + "…"
}

/// How many columns a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

fn width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Embeddings, overrides and isolates of the bidirectional algorithm.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        assert_eq!(harmless("a\u{1b}[2Jb\nc\t"), "a\u{fffd}[2Jb\nc\t");
        assert_eq!(
            harmless_line("a\u{1b}[2Jb\r\nc\u{202e}"),
            "a\u{fffd}[2Jb\u{fffd} c\u{fffd}"
        );
    }

    #[test]
    fn a_line_takes_no_more_columns_than_it_may() {
        let check = |text: &str, limit: usize, expected: &str| {
            let line = shortened(text, limit);
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
