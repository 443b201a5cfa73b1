//! Content that the model is given: a string for plain text, parts only where there are several or others.

use agcore_chat::{Content, ContentPart, Extra, FilePart, ImagePart};
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::context::refuse;

/// Whose content it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The user's.
    User,
    /// Instructions: text only.
    Instruction,
    /// A tool's.
    Tool,
}

/// Content as it is written. Cache marks are left out: the cache works by itself here.
pub(super) struct WrittenContent<'a> {
    pub(super) content: &'a Content,
    pub(super) owner: Owner,
}

impl Serialize for WrittenContent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = match self.content {
            Content::Text(text) => return serializer.serialize_str(text),
            Content::Parts(parts) => parts,
        };
        if let [ContentPart::Text(part)] = &parts[..]
            && part.extra.is_empty()
        {
            return serializer.serialize_str(&part.text);
        }
        let is_text = |part: &ContentPart| matches!(part, ContentPart::Text(_) | ContentPart::Other(_));
        if self.owner == Owner::Instruction && !parts.iter().all(is_text) {
            return Err(refuse(
                "other parts than text in instructions",
                "send them in a user message",
            ));
        }
        serializer.collect_seq(parts.iter().map(WrittenPart))
    }
}

/// A part as it is written.
struct WrittenPart<'a>(&'a ContentPart);

impl Serialize for WrittenPart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ContentPart::Text(part) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", "input_text")?;
                map.serialize_entry("text", &part.text)?;
                write_extra(&part.extra, &mut map)?;
                map.end()
            }
            ContentPart::ImageUrl(part) => image(part, serializer),
            ContentPart::File(part) => file(part, serializer),
            ContentPart::InputAudio(_) => {
                let advice = "send a transcript, or ask by the Chat Completions API";
                Err(refuse("parts of the type `input_audio`", advice))
            }
            // Parts that nobody here knows go as they are.
            ContentPart::Other(raw) => raw.serialize(serializer),
            _ => Err(refuse("a refusal in what the model is given", "send it as text")),
        }
    }
}

fn image<S: Serializer>(part: &ImagePart, serializer: S) -> Result<S::Ok, S::Error> {
    let image = &part.image_url;
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("type", "input_image")?;
    // An uploaded picture is named by a member `file_id` instead.
    if !image.url.is_empty() {
        map.serialize_entry("image_url", &image.url)?;
    }
    map.serialize_entry("detail", image.detail.as_deref().unwrap_or("auto"))?;
    write_extra(&image.extra, &mut map)?;
    write_extra(&part.extra, &mut map)?;
    map.end()
}

fn file<S: Serializer>(part: &FilePart, serializer: S) -> Result<S::Ok, S::Error> {
    let file = &part.file;
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("type", "input_file")?;
    let members = [
        ("file_id", &file.file_id),
        ("filename", &file.filename),
        ("file_data", &file.file_data),
    ];
    for (name, value) in members {
        if let Some(value) = value {
            map.serialize_entry(name, value)?;
        }
    }
    write_extra(&file.extra, &mut map)?;
    write_extra(&part.extra, &mut map)?;
    map.end()
}

fn write_extra<S: SerializeMap>(extra: &Extra, map: &mut S) -> Result<(), S::Error> {
    extra
        .iter()
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}
