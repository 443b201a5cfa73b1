//! [`Text`]: an immutable string for deltas and events.

use std::{borrow::Borrow, fmt, ops::Deref, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Length in bytes of the longest text that is stored without an allocation. Most deltas of a streamed reply are
/// shorter.
const INLINE: usize = 30;

/// UTF-8 is checked in blocks of this many bytes if they are ASCII and aligned.
const BLOCK: usize = 2 * size_of::<usize>();

/// An immutable string that is cheap to clone: short text is stored inside the value, long text is shared.
///
/// The representation is opaque on purpose. `Text` dereferences to `str`.
///
/// ```
/// use agcore_chat::Text;
///
/// let text = Text::from("hello");
/// assert_eq!(text, "hello");
/// assert!(text.starts_with("he"));
/// ```
#[derive(Clone)]
pub struct Text(Repr);

#[derive(Clone)]
enum Repr {
    Inline(Inline),
    Shared(Arc<str>),
}

/// A short text. The bytes come first and are aligned, because the UTF-8 check of aligned text is several times as fast.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Inline {
    /// The text, followed by zeros.
    bytes: [u8; INLINE],
    len: u8,
    tag: Tag,
}

/// A byte with a single valid value. With the other values, the compiler distinguishes the kinds of text, and `None`.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Tag {
    Inline = 0,
}

impl Inline {
    const EMPTY: Self = Self {
        bytes: [0; INLINE],
        len: 0,
        tag: Tag::Inline,
    };

    fn new(text: &str) -> Option<Self> {
        let mut inline = Self::EMPTY;
        inline.bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        inline.len = u8::try_from(text.len()).ok()?;
        Some(inline)
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn as_str(&self) -> &str {
        // Only complete `str`s are ever stored, so the check never fails; it costs less than an allocation. The zeros that
        // fill the first block are checked with it, which is faster than checking single bytes.
        let len = usize::from(self.len);
        let checked = std::str::from_utf8(&self.bytes[..len.max(BLOCK)]);
        checked.ok().and_then(|text| text.get(..len)).unwrap_or_default()
    }
}

impl Text {
    /// The empty text.
    pub const EMPTY: Self = Self(Repr::Inline(Inline::EMPTY));

    /// Creates a short text in a constant. Text of more than 30 bytes is a compile error there.
    pub(crate) const fn short(text: &'static str) -> Self {
        let (text, mut inline) = (text.as_bytes(), Inline::EMPTY);
        let mut at = 0;
        while at < text.len() {
            inline.bytes[at] = text[at];
            at += 1;
        }
        // No longer than `INLINE`, or the loop above would have failed.
        #[expect(clippy::cast_possible_truncation, reason = "at most 30")]
        let len = text.len() as u8;
        inline.len = len;
        Self(Repr::Inline(inline))
    }

    /// Returns the text as a string slice.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Inline(text) => text.as_str(),
            Repr::Shared(text) => text,
        }
    }

    /// Returns the bytes of the text, without the UTF-8 check that [`as_str`](Self::as_str) makes for short text.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline(text) => text.as_bytes(),
            Repr::Shared(text) => text.as_bytes(),
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Inline::new(text).map_or_else(|| Repr::Shared(text.into()), Repr::Inline))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Inline::new(&text).map_or_else(|| Repr::Shared(text.into()), Repr::Inline))
    }
}

impl From<Arc<str>> for Text {
    fn from(text: Arc<str>) -> Self {
        Self(Repr::Shared(text))
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl std::hash::Hash for Text {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl de::Visitor<'_> for TextVisitor {
            type Value = Text;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
                Ok(text.into())
            }
            fn visit_string<E: de::Error>(self, text: String) -> Result<Text, E> {
                Ok(text.into())
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_text_of_every_length() {
        for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, INLINE - 1, INLINE, INLINE + 1, 1000] {
            let whole = "é".repeat(len / 2) + &"x".repeat(len % 2);
            assert_eq!(Text::from(whole.as_str()), whole.as_str());
            assert_eq!(Text::from(whole.clone()).to_string(), whole);
        }
    }

    #[test]
    fn round_trips_as_a_json_string() {
        let text: Text = serde_json::from_str(r#""a\nb""#).unwrap();
        assert_eq!(text, "a\nb");
        assert_eq!(serde_json::to_string(&text).unwrap(), r#""a\nb""#);
        assert!(serde_json::from_str::<Text>("1").is_err());
    }

    #[test]
    fn is_no_larger_than_four_words() {
        assert!(size_of::<Text>() <= 4 * size_of::<usize>());
        assert_eq!(size_of::<Option<Text>>(), size_of::<Text>());
    }
}
