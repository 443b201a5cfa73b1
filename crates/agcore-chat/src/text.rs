//! Helpers for plain strings: cutting them at a length, and finding the name that a misspelled one was meant to be.
//!
//! ```
//! use agcore_chat::text::{clip, nearest};
//!
//! assert_eq!(clip("a long message", 6), "a long…");
//! assert_eq!(nearest("temprature", ["temperature", "top_p"]), Some("temperature"));
//! ```

mod near;

use std::borrow::Cow;

pub use near::{is_same_name, nearest, nearest_names};

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
