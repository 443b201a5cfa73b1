//! [`EncodedContent`]: the content of messages and tool results. Plain text is a string, everything else a list of parts.

use agcore_chat::{CacheMark, Content, ContentPart, Extra, FilePart, ImagePart};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::openai_responses::vendor::unsupported;

/// The kind of message that the content belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A user message.
    User,
    /// An instruction: text only.
    Instruction,
    /// A tool result.
    Tool,
}

/// The member that ends a prefix to be cached.
const BREAKPOINT: &str = "prompt_cache_breakpoint";

/// Content in the form of the API. Cache marks are left out unless the request asks for them, because the API caches
/// automatically and models before GPT-5.6 reject them.
pub(super) struct EncodedContent<'a> {
    pub(super) content: &'a Content,
    pub(super) owner: Owner,
    /// The mark of the whole message, which is put on its last part.
    pub(super) mark: Option<&'a CacheMark>,
    /// Whether marks are sent.
    pub(super) sends_marks: bool,
}

impl EncodedContent<'_> {
    /// Returns whether the part at this place is marked.
    fn is_marked(&self, part: &ContentPart, is_last: bool) -> bool {
        let own = part.marks().and_then(|marks| marks.cache.as_ref());
        self.sends_marks && (own.is_some() || (is_last && self.mark.is_some()))
    }
}

impl Serialize for EncodedContent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = match self.content {
            Content::Text(text) if self.sends_marks && self.mark.is_some() => {
                let part = ContentPart::text(text);
                return serializer.collect_seq([EncodedPart {
                    part: &part,
                    is_marked: true,
                }]);
            }
            Content::Text(text) => return serializer.serialize_str(text),
            Content::Parts(parts) => parts,
        };
        if let [only @ ContentPart::Text(part)] = &parts[..]
            && part.extra.is_empty()
            && !self.is_marked(only, true)
        {
            return serializer.serialize_str(&part.text);
        }
        let is_text = |part: &ContentPart| matches!(part, ContentPart::Text(_) | ContentPart::Other(_));
        if self.owner == Owner::Instruction && !parts.iter().all(is_text) {
            return Err(unsupported(
                "parts other than text in instructions",
                "send them in a user message",
            ));
        }
        let last = parts.len().saturating_sub(1);
        serializer.collect_seq(parts.iter().enumerate().map(|(at, part)| EncodedPart {
            part,
            is_marked: self.is_marked(part, at == last),
        }))
    }
}

/// A content part in the form of the API.
struct EncodedPart<'a> {
    part: &'a ContentPart,
    is_marked: bool,
}

impl Serialize for EncodedPart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_marked = self.is_marked;
        match self.part {
            ContentPart::Text(part) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", "input_text")?;
                map.serialize_entry("text", &part.text)?;
                write_extra(&part.extra, &mut map)?;
                write_mark(is_marked, &part.extra, &mut map)?;
                map.end()
            }
            ContentPart::ImageUrl(part) => image(part, is_marked, serializer),
            ContentPart::File(part) => file(part, is_marked, serializer),
            ContentPart::InputAudio(_) => Err(unsupported(
                "content parts of the type `input_audio`",
                "send a transcript, or use the Chat Completions API",
            )),
            // Parts of unknown types are sent unchanged.
            ContentPart::Other(raw) => raw.serialize(serializer),
            _ => Err(unsupported(
                "refusals outside of assistant messages",
                "send them as text",
            )),
        }
    }
}

fn image<S: Serializer>(part: &ImagePart, is_marked: bool, serializer: S) -> Result<S::Ok, S::Error> {
    let image = &part.image_url;
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("type", "input_image")?;
    // An uploaded image has an extra member `file_id` instead of a URL.
    if !image.url.is_empty() {
        map.serialize_entry("image_url", &image.url)?;
    }
    map.serialize_entry("detail", image.detail.as_deref().unwrap_or("auto"))?;
    write_extra(&image.extra, &mut map)?;
    write_extra(&part.extra, &mut map)?;
    write_mark(is_marked, &part.extra, &mut map)?;
    map.end()
}

fn file<S: Serializer>(part: &FilePart, is_marked: bool, serializer: S) -> Result<S::Ok, S::Error> {
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
    write_mark(is_marked, &part.extra, &mut map)?;
    map.end()
}

/// Writes a cache mark, unless the application wrote one in the vendor's form.
fn write_mark<S: SerializeMap>(is_marked: bool, extra: &Extra, map: &mut S) -> Result<(), S::Error> {
    if !is_marked || extra.get(BREAKPOINT).is_some() {
        return Ok(());
    }
    map.serialize_entry(BREAKPOINT, &serde_json::json!({ "mode": "explicit" }))
}

fn write_extra<S: SerializeMap>(extra: &Extra, map: &mut S) -> Result<(), S::Error> {
    extra
        .iter()
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}
