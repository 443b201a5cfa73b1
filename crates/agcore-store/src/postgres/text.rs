//! Texts that may contain NUL characters, which PostgreSQL cannot store.

use std::borrow::Cow;

/// Begins an escape: U+0010, data link escape. `0` after it stands for NUL, and `1` for this character itself.
const ESCAPE: char = '\u{10}';

/// Returns a text without NUL characters. [`decode`] returns the original.
pub(super) fn encode(text: &str) -> Cow<'_, str> {
    if !text.contains('\0') && !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(ESCAPE, "\u{10}1").replace('\0', "\u{10}0"))
}

/// Returns the text that was encoded. Escapes that [`encode`] does not write are kept as they are.
pub(super) fn decode(text: String) -> String {
    if !text.contains(ESCAPE) {
        return text;
    }
    let mut decoded = String::with_capacity(text.len());
    let mut parts = text.split(ESCAPE);
    decoded.extend(parts.next());
    for part in parts {
        let (character, rest) = match (part.strip_prefix('0'), part.strip_prefix('1')) {
            (Some(rest), _) => ('\0', rest),
            (None, Some(rest)) => (ESCAPE, rest),
            (None, None) => (ESCAPE, part),
        };
        decoded.push(character);
        decoded.push_str(rest);
    }
    decoded
}

/// Returns an id as the value of a lookup. One with a NUL character cannot have been stored; the result is null then, which
/// equals nothing.
pub(super) fn lookup(id: &str) -> Option<&str> {
    Some(id).filter(|id| !id.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_have_no_nul() {
        for text in [
            "",
            "plain 日本😀",
            "\0",
            "a\0b\0",
            "\u{10}",
            "\u{10}0",
            "\u{10}\u{0}1\u{10}",
            "\u{0}\u{10}1\u{10}\u{10}0",
        ] {
            let encoded = encode(text);
            assert!(!encoded.contains('\0'), "{text:?}");
            assert_eq!(decode(encoded.into_owned()), text);
        }
    }

    #[test]
    fn only_texts_that_need_it_are_copied() {
        assert!(matches!(encode("plain"), Cow::Borrowed("plain")));
        assert_eq!(encode("a\0b\u{10}"), "a\u{10}0b\u{10}1");
    }

    #[test]
    fn unknown_escapes_are_kept() {
        for text in ["\u{10}", "\u{10}x", "x\u{10}", "\u{10}\u{10}"] {
            assert_eq!(decode(text.to_owned()), text);
        }
    }
}
