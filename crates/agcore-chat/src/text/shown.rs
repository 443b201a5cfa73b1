//! Untrusted text for people: it cannot control the terminal or the log that shows it.

use std::{borrow::Cow, fmt, time::Duration};

/// Replaces characters that are not shown.
const REPLACEMENT: char = '\u{fffd}';

/// Replaces control characters, except line breaks and tabs, and characters that override the direction of writing. Marks
/// that right-to-left text needs are kept.
///
/// ```
/// use agcore_chat::text::sanitized;
///
/// assert_eq!(sanitized("a\u{1b}[2J\nb"), "a\u{fffd}[2J\nb");
/// ```
pub fn sanitized(text: &str) -> Cow<'_, str> {
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
pub fn sanitized_line(text: &str) -> String {
    sanitized_chars(text).collect()
}

/// Returns the characters of [`sanitized_line`], one for each character of the text.
pub fn sanitized_chars(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(sanitized_char)
}

fn sanitized_char(c: char) -> char {
    match c {
        '\n' | '\t' => ' ',
        c if c.is_control() || changes_direction(c) => REPLACEMENT,
        c => c,
    }
}

/// Returns whether this is an embedding, override or isolate of the bidirectional algorithm.
fn changes_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Formats a duration for people, as `12 ms` or `1.2 s`.
///
/// ```
/// use std::time::Duration;
///
/// use agcore_chat::text::HumanDuration;
///
/// assert_eq!(HumanDuration(Duration::from_millis(12)).to_string(), "12 ms");
/// assert_eq!(HumanDuration(Duration::from_millis(1234)).to_string(), "1.2 s");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HumanDuration(pub Duration);

impl fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < Duration::from_secs(1) {
            write!(f, "{} ms", self.0.as_millis())
        } else {
            write!(f, "{:.1} s", self.0.as_secs_f64())
        }
    }
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
}
