//! Texts cut to a length, on a character boundary.

use std::borrow::Cow;

/// The text up to a limit in bytes, cut on a character boundary.
pub(crate) fn clip(text: &str, bytes: usize) -> Cow<'_, str> {
    if text.len() <= bytes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", head(text, bytes)))
}

/// The longest beginning of a text that has at most so many bytes and only whole characters.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
