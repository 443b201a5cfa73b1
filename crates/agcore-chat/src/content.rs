//! [`Content`]: the content of a message.

pub(crate) mod citation;
pub(crate) mod marks;
pub(crate) mod part;

use std::borrow::Cow;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, SeqAccess, value::SeqAccessDeserializer},
};

use crate::content::part::ContentPart;

/// The content of a message: plain text or parts. Both JSON shapes survive a round trip.
///
/// ```
/// use agcore_chat::{Content, ContentPart};
///
/// let plain = Content::from("What is this?");
/// assert_eq!(serde_json::to_string(&plain)?, r#""What is this?""#);
///
/// let image = ContentPart::image_url("https://example.com/a.png");
/// let parts = Content::from(vec![ContentPart::text("What is this?"), image]);
/// assert_eq!(parts.text(), "What is this?");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Plain text, written as a JSON string.
    Text(String),
    /// One or more parts, written as a JSON array.
    Parts(Vec<ContentPart>),
}

impl Content {
    /// Returns the whole text: text parts are joined without a separator, other parts are skipped.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => {
                let mut texts = parts.iter().filter_map(ContentPart::as_text);
                match (texts.next(), texts.next()) {
                    (None, _) => Cow::Borrowed(""),
                    (Some(only), None) => Cow::Borrowed(only),
                    (Some(first), Some(second)) => {
                        Cow::Owned([first, second].into_iter().chain(texts).collect::<String>())
                    }
                }
            }
        }
    }

    /// Returns the text that a person or the model wrote: like [`text`](Self::text), without the parts whose
    /// [origin](crate::Origin) is marked.
    ///
    /// ```
    /// use agcore_chat::{Content, ContentPart, Marks, Origin};
    ///
    /// let note = ContentPart::text("[context]\n").with_marks(Marks::new().with_origin(Origin::Context));
    /// let content = Content::from(vec![note, ContentPart::text("Hello")]);
    /// assert_eq!(content.text(), "[context]\nHello");
    /// assert_eq!(content.own_text(), "Hello");
    /// ```
    pub fn own_text(&self) -> Cow<'_, str> {
        let Self::Parts(parts) = self else {
            return self.text();
        };
        let is_own = |part: &&ContentPart| part.marks().is_none_or(|marks| marks.origin.is_none());
        let mut texts = parts.iter().filter(is_own).filter_map(ContentPart::as_text);
        match (texts.next(), texts.next()) {
            (None, _) => Cow::Borrowed(""),
            (Some(only), None) => Cow::Borrowed(only),
            (Some(first), Some(second)) => Cow::Owned([first, second].into_iter().chain(texts).collect()),
        }
    }

    /// Returns mutable references to the plain text, or to the text of each text part.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let (text, parts) = match self {
            Self::Text(text) => (Some(text), None),
            Self::Parts(parts) => (None, Some(parts)),
        };
        let in_parts = parts.into_iter().flatten().filter_map(|part| match part {
            ContentPart::Text(part) => Some(&mut part.text),
            _ => None,
        });
        text.into_iter().chain(in_parts)
    }

    /// Returns whether the text is empty or there are no parts.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Parts(parts) => parts.is_empty(),
        }
    }

    /// Converts the content into parts: plain text becomes one text part, empty text no part.
    pub fn into_parts(self) -> Vec<ContentPart> {
        match self {
            Self::Text(text) if text.is_empty() => Vec::new(),
            Self::Text(text) => vec![ContentPart::text(text)],
            Self::Parts(parts) => parts,
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec<ContentPart>> for Content {
    fn from(parts: Vec<ContentPart>) -> Self {
        Self::Parts(parts)
    }
}

impl From<ContentPart> for Content {
    fn from(part: ContentPart) -> Self {
        Self::Parts(vec![part])
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Parts(parts) => parts.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;
        impl<'de> de::Visitor<'de> for ContentVisitor {
            type Value = Content;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("content: a string or an array of parts")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
                Ok(text.into())
            }
            fn visit_string<E: de::Error>(self, text: String) -> Result<Content, E> {
                Ok(text.into())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Content, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Content::Parts)
            }
        }
        deserializer.deserialize_any(ContentVisitor)
    }
}
