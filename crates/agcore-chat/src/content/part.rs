//! [`ContentPart`]: a part of a message's content.
//!
//! The shapes follow the Chat Completions API reference: `text`, `image_url`, `input_audio`, `file`, `refusal`.

use serde::{
    Serialize, Serializer,
    de::{self, MapAccess},
};
use serde_json::{Map, Value};

use crate::{
    content::marks::Marks,
    object::{Extra, Object, Tagged, object, read_raw, tagged, write_tagged},
};

/// A part of a message's content.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContentPart {
    /// Text.
    Text(TextPart),
    /// An image by URL, which may be a `data:` URL.
    ImageUrl(ImagePart),
    /// An audio recording.
    InputAudio(AudioPart),
    /// A file, by content or by id.
    File(FilePart),
    /// A refusal of the model, as a part of assistant content.
    Refusal(RefusalPart),
    /// A part of unknown type, as raw JSON; written back unchanged.
    Other(Value),
}

impl ContentPart {
    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextPart {
            text: text.into(),
            ..TextPart::default()
        })
    }

    /// Creates an image part from an `http:`, `https:` or `data:` URL.
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

    /// Creates an audio part from base64 data and its format (`wav`, `mp3`).
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

    /// Creates a file part from the file's content, as a `data:` URL or base64 text.
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

    /// Creates a file part from the id of a file that was uploaded to the vendor.
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

    /// Returns the text, if this is a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(part) => Some(&part.text),
            _ => None,
        }
    }

    /// Returns the marks, if this kind of part can carry any.
    pub fn marks(&self) -> Option<&Marks> {
        match self {
            Self::Text(part) => Some(&part.marks),
            Self::ImageUrl(part) => Some(&part.marks),
            Self::InputAudio(part) => Some(&part.marks),
            Self::File(part) => Some(&part.marks),
            Self::Refusal(_) | Self::Other(_) => None,
        }
    }

    /// Replaces the marks. Has no effect on refusals and parts of unknown type, which carry none.
    #[must_use]
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
    /// The cache mark and the origin.
    pub marks: Marks,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(TextPart: "a text part" { "text" => text [always], "agcore" => marks });

/// An image part.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImagePart {
    /// The location of the image.
    pub image_url: ImageUrl,
    /// The cache mark and the origin.
    pub marks: Marks,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(ImagePart: "an image part" { "image_url" => image_url [always], "agcore" => marks });

/// The location of an image and the detail in which the model should see it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImageUrl {
    /// An `http:`, `https:` or `data:` URL.
    pub url: String,
    /// `auto`, `low` or `high`; `None` is the vendor's default.
    pub detail: Option<String>,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(ImageUrl: "an image URL object" { "url" => url [always], "detail" => detail });

/// An audio part.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AudioPart {
    /// The recording.
    pub input_audio: InputAudio,
    /// The cache mark and the origin.
    pub marks: Marks,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(AudioPart: "an audio part" { "input_audio" => input_audio [always], "agcore" => marks });

/// An audio recording as base64 text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputAudio {
    /// The recording's bytes as base64 text.
    pub data: String,
    /// `wav` or `mp3`.
    pub format: String,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(InputAudio: "an audio object" { "data" => data [always], "format" => format [always] });

/// A file part.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FilePart {
    /// The file's content or id.
    pub file: FileRef,
    /// The cache mark and the origin.
    pub marks: Marks,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(FilePart: "a file part" { "file" => file [always], "agcore" => marks });

/// A reference to a file, by content (`file_data`) or by the vendor's id (`file_id`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileRef {
    /// The file's content, as a `data:` URL or base64 text.
    pub file_data: Option<String>,
    /// The vendor's id of an uploaded file.
    pub file_id: Option<String>,
    /// The file's name.
    pub filename: Option<String>,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(FileRef: "a file object" { "file_data" => file_data, "file_id" => file_id, "filename" => filename });

/// A refusal of the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RefusalPart {
    /// The model's explanation.
    pub refusal: String,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(RefusalPart: "a refusal part" { "refusal" => refusal [always] });
