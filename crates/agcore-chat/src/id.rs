//! Ids that consist of parts, such as the name of a session and a key within it.
//!
//! Parts are encoded, so that different parts never give the same id, whatever they contain. With plain concatenation, they
//! could: `a` followed by `:b` and `a:` followed by `b` would be the same id.
//!
//! ```
//! use agcore_chat::id;
//!
//! assert_eq!(id::join(["session", "ann", "notes/2026"]), "session/ann/notes%2F2026");
//! assert_eq!(id::prefix(["session", "ann"]), "session/ann/");
//! assert_eq!(id::split("session/ann/notes%2F2026").unwrap(), ["session", "ann", "notes/2026"]);
//! ```

use std::fmt::Write;

/// The maximum length of an id and of the name of a stream, in bytes.
pub const MAX_ID_BYTES: usize = 1024;

/// The error of a text that no store can keep as an id, such as an empty one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IdError(String);

/// The encoding of an empty part.
const EMPTY: &str = "%-";

/// Joins parts into an id. [`split`] returns the same parts.
pub fn join<P: AsRef<str>>(parts: impl IntoIterator<Item = P>) -> String {
    let mut id = prefix(parts);
    id.pop();
    id
}

/// Joins parts into the prefix of all ids that begin with these parts and have more.
pub fn prefix<P: AsRef<str>>(parts: impl IntoIterator<Item = P>) -> String {
    let mut id = String::new();
    for part in parts {
        encode(part.as_ref(), &mut id);
        id.push('/');
    }
    id
}

/// Returns the parts of an id. Returns `None` if it was not made by [`join`].
pub fn split(id: &str) -> Option<Vec<String>> {
    if id.is_empty() {
        return Some(Vec::new());
    }
    id.split('/').map(decode).collect()
}

/// Checks that a store can keep this id: 1 to [`MAX_ID_BYTES`] bytes without NUL characters. All other characters are
/// allowed and have no special meaning.
///
/// # Errors
/// The reason why no store can keep it.
pub fn check(id: &str) -> Result<(), IdError> {
    check_named("the id", id)
}

/// Checks an id like [`check`]. The error names it as `what`: `the id of the session`.
///
/// # Errors
/// The reason why no store can keep it.
pub fn check_named(what: &str, id: &str) -> Result<(), IdError> {
    if id.is_empty() {
        return Err(IdError(format!("{what} is empty")));
    }
    check_prefix(what, id)
}

/// Checks the beginning of ids like [`check_named`]. It may be empty.
///
/// # Errors
/// The reason why no id begins like this.
pub fn check_prefix(what: &str, text: &str) -> Result<(), IdError> {
    if text.len() > MAX_ID_BYTES {
        let length = text.len();
        return Err(IdError(format!(
            "{what} has {length} bytes; at most {MAX_ID_BYTES} are allowed"
        )));
    }
    if text.contains('\0') {
        return Err(IdError(format!("{what} contains a NUL character")));
    }
    Ok(())
}

/// Returns the smallest text that is greater than every text with a prefix, in the order of bytes, so that a database can
/// look for a prefix by range. Returns `None` if there is none: then the range has no end.
///
/// ```
/// use agcore_chat::id::upper_bound;
///
/// assert_eq!(upper_bound("notes/").as_deref(), Some("notes0"));
/// assert_eq!(upper_bound(""), None);
/// ```
pub fn upper_bound(prefix: &str) -> Option<String> {
    let mut bound = prefix.to_owned();
    while let Some(last) = bound.pop() {
        // Surrogates are not characters.
        let next = if last == '\u{d7ff}' {
            0xe000
        } else {
            u32::from(last) + 1
        };
        if let Some(next) = char::from_u32(next) {
            bound.push(next);
            return Some(bound);
        }
    }
    None
}

fn encode(part: &str, id: &mut String) {
    if part.is_empty() {
        id.push_str(EMPTY);
    }
    for character in part.chars() {
        if matches!(character, '/' | '%') || character.is_ascii_control() {
            // Writing to a string cannot fail.
            let _ = write!(id, "%{:02X}", u32::from(character));
        } else {
            id.push(character);
        }
    }
}

fn decode(part: &str) -> Option<String> {
    if part == EMPTY {
        return Some(String::new());
    }
    let mut pieces = part.split('%');
    let mut text = pieces.next().filter(|_| !part.is_empty())?.to_owned();
    for piece in pieces {
        let code = u8::from_str_radix(piece.get(..2)?, 16).ok().filter(u8::is_ascii)?;
        text.push(char::from(code));
        text.push_str(&piece[2..]);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn ids_have_limits() {
        for id in ["%", "_*:", "日本 😀", "a b", &"x".repeat(MAX_ID_BYTES)] {
            check(id).unwrap();
        }
        let error = |id: &str| check(id).unwrap_err().to_string();
        assert_eq!(error(""), "the id is empty");
        assert_eq!(error("a\0"), "the id contains a NUL character");
        assert_eq!(
            error(&"x".repeat(10_000)),
            "the id has 10000 bytes; at most 1024 are allowed"
        );
    }

    #[test]
    fn other_ids_have_no_parts() {
        for id in ["a//b", "/", "%", "%4", "%zz", "%FF", "a%"] {
            assert_eq!(split(id), None, "{id}");
        }
    }

    proptest! {
        #[test]
        fn a_prefix_is_a_range(prefix in ".{0,3}|[a\u{d7ff}\u{10ffff}]{0,3}", text in ".{0,3}|[ab\u{d7ff}\u{e000}\u{10ffff}]{0,4}") {
            let is_in_range = text >= prefix && upper_bound(&prefix).is_none_or(|bound| text < bound);
            prop_assert_eq!(is_in_range, text.starts_with(&prefix));
        }

        #[test]
        fn different_parts_never_collide(one in vec("[ab/%:\u{0}é]{0,3}", 0..4), other in vec("[ab/%:\u{0}é]{0,3}", 0..4)) {
            prop_assert_eq!(&split(&join(&one)).unwrap(), &one);
            prop_assert_eq!(join(&one) == join(&other), one == other);
            let is_below = other.len() > one.len() && other.starts_with(&one);
            prop_assert_eq!(join(&other).starts_with(&prefix(&one)), is_below || (one.is_empty()));
        }
    }
}
