//! Helpers for plain strings: cutting them at a length, showing those that cannot be trusted, and finding the name that a
//! misspelled one was meant to be.
//!
//! ```
//! use agcore_chat::text::{clip, nearest};
//!
//! assert_eq!(clip("a long message", 6), "a long…");
//! assert_eq!(nearest("temprature", ["temperature", "top_p"]), Some("temperature"));
//! ```

mod chain;
mod near;
mod shown;

use std::borrow::Cow;

pub use chain::error_chain;
pub use near::{alternatives, is_same_name, nearest, nearest_names, suggestion};
pub use shown::{HumanDuration, sanitized, sanitized_chars, sanitized_line};

/// Returns the largest character boundary of `text` that is not above `at`.
///
/// Same as `str::floor_char_boundary`, which is stable since Rust 1.91.
///
/// ```
/// use agcore_chat::text::floor_char_boundary;
///
/// assert_eq!(floor_char_boundary("né", 2), 1);
/// assert_eq!(floor_char_boundary("né", 3), 3);
/// assert_eq!(floor_char_boundary("né", 99), 3);
/// ```
pub fn floor_char_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Returns the longest prefix of `text` that has at most `max_bytes` bytes and ends at a character boundary.
///
/// ```
/// use agcore_chat::text::prefix;
///
/// assert_eq!(prefix("naïve", 3), "na");
/// assert_eq!(prefix("naïve", 4), "naï");
/// assert_eq!(prefix("naïve", 99), "naïve");
/// ```
pub fn prefix(text: &str, max_bytes: usize) -> &str {
    &text[..floor_char_boundary(text, max_bytes)]
}

/// Shortens `text` to its [`prefix`] of at most `max_bytes` bytes, followed by `…` if anything was cut off.
///
/// The ellipsis comes on top of `max_bytes`. A text that is short enough is returned borrowed.
///
/// ```
/// use agcore_chat::text::clip;
///
/// assert_eq!(clip("not found", 20), "not found");
/// assert_eq!(clip("not found", 3), "not…");
/// ```
pub fn clip(text: &str, max_bytes: usize) -> Cow<'_, str> {
    if text.len() <= max_bytes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", prefix(text, max_bytes)))
}

/// Replaces characters that a person cannot see, or that change the order in which a text is displayed, by escapes such as
/// `\\u{202e}`: control characters, marks of the writing direction, characters without width, separators of lines, and
/// tags. Such characters can make a text look like another one.
///
/// ```
/// use agcore_chat::text::visible;
///
/// assert_eq!(visible("rm notes.txt"), "rm notes.txt");
/// assert_eq!(visible("rm \u{202e}txt.seton"), r"rm \u{202e}txt.seton");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match is_deceptive(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Replaces control characters, except line breaks and tabs, by escapes such as `\\u{1b}`: the output of a tool stays readable, and
/// can change neither a terminal nor what a server reads. For what a person is asked to judge, use [`visible`].
///
/// ```
/// use agcore_chat::text::visible_controls;
///
/// assert_eq!(visible_controls("one\n\ttwo\r\n"), "one\n\ttwo\r\n");
/// assert_eq!(visible_controls("\u{1b}[31mred\0"), r"\u{1b}[31mred\u{0}");
/// ```
pub fn visible_controls(text: &str) -> Cow<'_, str> {
    // Checks every byte without branches, which is faster than looking at characters. 0xc2 begins the controls behind ASCII.
    let may_be_control = |byte: u8| byte < b' ' && !matches!(byte, b'\n' | b'\t') || matches!(byte, 0x7f | 0xc2);
    if !text.bytes().fold(false, |found, byte| found | may_be_control(byte)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    let mut chars = text.chars().peekable();
    let mut is_changed = false;
    while let Some(c) = chars.next() {
        let is_break = matches!(c, '\n' | '\t') || c == '\r' && chars.peek() == Some(&'\n');
        match c.is_control() && !is_break {
            true => {
                is_changed = true;
                shown.extend(c.escape_unicode());
            }
            false => shown.push(c),
        }
    }
    match is_changed {
        true => Cow::Owned(shown),
        false => Cow::Borrowed(text),
    }
}

/// Returns whether a character is invisible or changes the order in which a text is displayed.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_never_split_a_character() {
        let text = "aé字😀";
        let check = |at: usize, expected: usize| assert_eq!(floor_char_boundary(text, at), expected, "{at}");
        check(0, 0);
        check(1, 1);
        check(2, 1);
        check(3, 3);
        check(5, 3);
        check(6, 6);
        check(9, 6);
        check(10, 10);
        check(usize::MAX, 10);
        assert_eq!(floor_char_boundary("", 3), 0);
    }

    #[test]
    fn characters_that_deceive_are_escaped() {
        for c in [
            '\0',
            '\n',
            '\u{7f}',
            '\u{9b}',
            '\u{200b}',
            '\u{202e}',
            '\u{2066}',
            '\u{2028}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            let text = format!("a{c}b");
            assert_eq!(visible(&text), format!("a{}b", c.escape_unicode()));
        }
        let plain = "naïve 字 😀❤️ \u{5d0}\u{5d1}";
        assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain));
    }

    #[test]
    fn control_characters_of_outputs_are_escaped() {
        for c in ['\0', '\u{7}', '\u{b}', '\u{c}', '\r', '\u{1b}', '\u{7f}', '\u{9b}'] {
            let text = format!("a{c}b");
            assert_eq!(visible_controls(&text), format!("a{}b", c.escape_unicode()));
        }
        let plain = "naïve 字 😀❤️ \u{5d0}\u{200d}\n\tline\r\n";
        assert!(matches!(visible_controls(plain), Cow::Borrowed(text) if text == plain));
        assert_eq!(visible_controls("10 %\r20 %\r\n"), "10 %\\u{d}20 %\r\n");
    }

    #[test]
    fn clip_marks_only_what_it_cuts() {
        let check =
            |text: &str, max_bytes: usize, expected: &str| assert_eq!(clip(text, max_bytes), expected, "{text}");
        check("", 0, "");
        check("abc", 3, "abc");
        check("abc", 2, "ab…");
        check("é", 1, "…");
        check("abc", 0, "…");
        assert!(matches!(clip("abc", 3), Cow::Borrowed("abc")));
    }
}
