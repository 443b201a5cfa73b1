//! Shows commands, arguments, names and differences whole, before a person approves them.

use agcore_chat::text::visible;

/// Precedes the lines of a value after the first. No text contains it, because control characters are escaped.
pub const CONTINUED: char = '\u{1}';

/// Shows a text on one line. Tabs stay tabs. Every other character that is invisible, looks like a space without being one, or changes
/// the direction of writing, is escaped.
pub fn shown_line(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\t' => shown.push(c),
            c if is_blank(c) => shown.extend(c.escape_unicode()),
            c => shown.push_str(&visible(c.encode_utf8(&mut [0; 4]))),
        }
    }
    shown
}

/// Shows a text with its line breaks, each line as by [`shown_line`]. A carriage return before a line break is escaped, too.
pub fn shown_lines(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('\n').map(shown_line)
}

/// Shows a text, with [`CONTINUED`] before each line after the first.
pub fn shown_value(text: &str) -> String {
    shown_lines(text).collect::<Vec<_>>().join(&format!("\n{CONTINUED}"))
}

/// Returns whether a character looks like a space, but is another one for a shell.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}' | '\u{3000}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden_and_nothing_is_lost() {
        assert_eq!(shown_line("a\tb   c"), "a\tb   c");
        assert_eq!(shown_line("a\u{a0}b\u{2800}\u{3000}"), "a\\u{a0}b\\u{2800}\\u{3000}");
        assert_eq!(
            shown_line("a\u{1b}[2J\u{202e}\u{200b}\r"),
            "a\\u{1b}[2J\\u{202e}\\u{200b}\\u{d}"
        );
        assert_eq!(shown_line("a\u{301} 字 é"), "a\u{301} 字 é");
        assert_eq!(shown_value("true # a\ntouch b\u{1}"), "true # a\n\u{1}touch b\\u{1}");
        let long = "x".repeat(10_000);
        assert_eq!(shown_line(&long), long);
    }
}
