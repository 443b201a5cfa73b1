//! [`Content`] of a message and its [`ContentPart`]s.
//!
//! Shapes after the Chat Completions API reference: `text`, `image_url`, `input_audio`, `file`, `refusal`.

use std::borrow::Cow;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, SeqAccess, value::SeqAccessDeserializer},
};
use serde_json::{Map, Value};

use crate::{
    marks::Marks,
    object::{Extra, Object, Tagged, object, read_raw, tagged, write_tagged},
};

/// What a message says: plain text, or parts. Both shapes of the wire are kept as they came.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Plain text, written as a JSON string.
    Text(String),
    /// One or more parts, written as a JSON array.
    Parts(Vec<ContentPart>),
}

impl Content {
    /// All text of it, parts joined without a separator; other parts are passed over.
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

    /// All texts of it, to be changed: the plain text, or that of each text part.
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

    /// Whether there is nothing in it: no parts, or no text.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Parts(parts) => parts.is_empty(),
        }
    }

    /// The parts; plain text is one text part.
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

/// One part of a message's content.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContentPart {
    /// Text.
    Text(TextPart),
    /// A picture by URL, which may be a `data:` URL.
    ImageUrl(ImagePart),
    /// Recorded sound.
    InputAudio(AudioPart),
    /// A file by content or id.
    File(FilePart),
    /// The model declined, as a part of assistant content.
    Refusal(RefusalPart),
    /// A part this crate does not know, as raw JSON; written back unchanged.
    Other(Value),
}

impl ContentPart {
    /// A text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextPart {
            text: text.into(),
            ..TextPart::default()
        })
    }

    /// A picture by `http:`, `https:` or `data:` URL.
    pub fn image_url(url: impl Into<String>) -> Self {
        let image_url = ImageUrl {
            url: url.into(),
            ..ImageUrl::default()
        };
        Self::ImageUrl(ImagePart {
            image_url,
            ..ImagePart::default()
        })
    }

    /// Sound: base64 data and its format (`wav`, `mp3`).
    pub fn input_audio(data: impl Into<String>, format: impl Into<String>) -> Self {
        let input_audio = InputAudio {
            data: data.into(),
            format: format.into(),
            ..InputAudio::default()
        };
        Self::InputAudio(AudioPart {
            input_audio,
            ..AudioPart::default()
        })
    }

    /// A file handed over as a `data:` URL or base64 text.
    pub fn file_data(filename: impl Into<String>, data: impl Into<String>) -> Self {
        let file = FileRef {
            file_data: Some(data.into()),
            filename: Some(filename.into()),
            ..FileRef::default()
        };
        Self::File(FilePart {
            file,
            ..FilePart::default()
        })
    }

    /// A file that the vendor already holds.
    pub fn file_id(id: impl Into<String>) -> Self {
        let file = FileRef {
            file_id: Some(id.into()),
            ..FileRef::default()
        };
        Self::File(FilePart {
            file,
            ..FilePart::default()
        })
    }

    /// The text, when this is a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(part) => Some(&part.text),
            _ => None,
        }
    }

    /// The marks, where the part can carry any.
    pub fn marks(&self) -> Option<&Marks> {
        match self {
            Self::Text(part) => Some(&part.marks),
            Self::ImageUrl(part) => Some(&part.marks),
            Self::InputAudio(part) => Some(&part.marks),
            Self::File(part) => Some(&part.marks),
            Self::Refusal(_) | Self::Other(_) => None,
        }
    }

    /// Replaces the marks; raw and refusal parts stay without.
    pub fn with_marks(mut self, marks: Marks) -> Self {
        match &mut self {
            Self::Text(part) => part.marks = marks,
            Self::ImageUrl(part) => part.marks = marks,
            Self::InputAudio(part) => part.marks = marks,
            Self::File(part) => part.marks = marks,
            Self::Refusal(_) | Self::Other(_) => {}
        }
        self
    }
}

impl From<&str> for ContentPart {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentPart {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl Tagged for ContentPart {
    const TAG: &'static str = "type";
    const EXPECTED: &'static str = "a content part: an object with a `type`";

    fn read<'de, A: MapAccess<'de>>(tag: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match tag {
            "text" => Self::Text(Object::read(map)?),
            "image_url" => Self::ImageUrl(Object::read(map)?),
            "input_audio" => Self::InputAudio(Object::read(map)?),
            "file" => Self::File(Object::read(map)?),
            "refusal" => Self::Refusal(Object::read(map)?),
            _ => Self::Other(read_raw(Self::TAG, tag, map)?),
        })
    }

    fn untagged<E: de::Error>(members: Map<String, Value>) -> Result<Self, E> {
        Ok(Self::Other(Value::Object(members)))
    }
}

tagged!(ContentPart);

impl Serialize for ContentPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(part) => write_tagged(serializer, "type", "text", part),
            Self::ImageUrl(part) => write_tagged(serializer, "type", "image_url", part),
            Self::InputAudio(part) => write_tagged(serializer, "type", "input_audio", part),
            Self::File(part) => write_tagged(serializer, "type", "file", part),
            Self::Refusal(part) => write_tagged(serializer, "type", "refusal", part),
            Self::Other(raw) => raw.serialize(serializer),
        }
    }
}

/// A text part.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextPart {
    /// The text.
    pub text: String,
    /// Cache mark and origin.
    pub marks: Marks,
    /// Members of the part that have no field.
    pub extra: Extra,
}
object!(TextPart: "a text part" { "text" => text [always], "agcore" => marks });

/// A picture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImagePart {
    /// Where the picture is.
    pub image_url: ImageUrl,
    /// Cache mark and origin.
    pub marks: Marks,
    /// Members of the part that have no field.
    pub extra: Extra,
}
object!(ImagePart: "an image part" { "image_url" => image_url [always], "agcore" => marks });

/// Where a picture is and how closely the model shall look at it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImageUrl {
    /// `http:`, `https:` or `data:` URL.
    pub url: String,
    /// `auto`, `low` or `high`; none is the vendor's default.
    pub detail: Option<String>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(ImageUrl: "an image URL object" { "url" => url [always], "detail" => detail });

/// Recorded sound.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AudioPart {
    /// The sound.
    pub input_audio: InputAudio,
    /// Cache mark and origin.
    pub marks: Marks,
    /// Members of the part that have no field.
    pub extra: Extra,
}
object!(AudioPart: "an audio part" { "input_audio" => input_audio [always], "agcore" => marks });

/// Sound as base64 text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputAudio {
    /// Base64 text of the bytes.
    pub data: String,
    /// `wav` or `mp3`.
    pub format: String,
    /// Members that have no field.
    pub extra: Extra,
}
object!(InputAudio: "an audio object" { "data" => data [always], "format" => format [always] });

/// A file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FilePart {
    /// Its content or id.
    pub file: FileRef,
    /// Cache mark and origin.
    pub marks: Marks,
    /// Members of the part that have no field.
    pub extra: Extra,
}
object!(FilePart: "a file part" { "file" => file [always], "agcore" => marks });

/// A file by content (`file_data`) or by the vendor's id (`file_id`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileRef {
    /// The content, as a `data:` URL or base64 text.
    pub file_data: Option<String>,
    /// The vendor's id of an uploaded file.
    pub file_id: Option<String>,
    /// Its name.
    pub filename: Option<String>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(FileRef: "a file object" { "file_data" => file_data, "file_id" => file_id, "filename" => filename });

/// The model declined.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RefusalPart {
    /// What it said.
    pub refusal: String,
    /// Members of the part that have no field.
    pub extra: Extra,
}
object!(RefusalPart: "a refusal part" { "refusal" => refusal [always] });
