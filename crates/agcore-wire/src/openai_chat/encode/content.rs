//! [`EncodedContent`]: a string for plain text, and parts only if needed.

use std::borrow::Cow;

use agcore_chat::{CacheMark, Content, ContentPart, Extra, Marks, TextPart};
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::context::Context;
use crate::{
    dialect::{AudioRule, ToolMediaRule},
    openai_chat::vendor::CACHE_CONTROL,
};

/// The content of a result that has no text of its own.
const MOVED: &str = "The result is in the next user message.";

/// The kind of message that has the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A user message, which may have parts of any kind.
    User,
    /// Instructions.
    Instruction,
    /// A tool result.
    Tool,
}

impl Owner {
    fn name(self) -> &'static str {
        match self {
            Self::User => "a user message",
            Self::Instruction => "instructions",
            Self::Tool => "a tool result",
        }
    }
}

/// The JSON of content.
pub(super) struct EncodedContent<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) content: &'a Content,
    /// The marks of the message.
    pub(super) marks: &'a Marks,
    pub(super) owner: Owner,
}

impl Serialize for EncodedContent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cache = self
            .marks
            .cache
            .as_ref()
            .filter(|_| self.context.dialect.content.cache_marks);
        match (self.content, cache) {
            (Content::Text(text), None) => serializer.serialize_str(text),
            (Content::Text(text), Some(cache)) => serializer.collect_seq([EncodedText {
                text,
                extra: &Extra::new(),
                cache: Some(cache),
            }]),
            (Content::Parts(parts), cache) => self.parts(parts, cache, serializer),
        }
    }
}

impl EncodedContent<'_> {
    fn parts<S: Serializer>(
        &self,
        parts: &[ContentPart],
        cache: Option<&CacheMark>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let is_plain = |part: &TextPart| part.extra.is_empty() && self.cache_of(&part.marks).is_none();
        if let (None, [ContentPart::Text(part)]) = (cache, parts)
            && is_plain(part)
        {
            return serializer.serialize_str(&part.text);
        }
        if !parts.iter().all(is_text) {
            match self.owner {
                Owner::User => {}
                Owner::Tool if self.context.dialect.content.tool_media == ToolMediaRule::InPlace => {}
                Owner::Tool if self.context.dialect.content.tool_media == ToolMediaRule::UserMessage => {
                    return serializer.serialize_str(&text_of_result(self.content));
                }
                Owner::Instruction | Owner::Tool => {
                    let what = format!("parts other than text in {}", self.owner.name());
                    return Err(self.context.refuse("messages", &what, "send them in a user message"));
                }
            }
        } else if self.owner != Owner::User && !self.context.dialect.content.arrays && !self.has_marks(parts, cache) {
            return serializer.serialize_str(&self.content.text());
        }
        let last = parts.len().saturating_sub(1);
        let encoded = |(at, part)| EncodedPart {
            context: self.context,
            part,
            // A mark of the message applies to its last part.
            cache: cache.filter(|_| at == last),
        };
        serializer.collect_seq(parts.iter().enumerate().map(encoded))
    }

    fn has_marks(&self, parts: &[ContentPart], cache: Option<&CacheMark>) -> bool {
        cache.is_some()
            || parts
                .iter()
                .filter_map(ContentPart::marks)
                .any(|marks| self.cache_of(marks).is_some())
    }

    fn cache_of<'a>(&self, marks: &'a Marks) -> Option<&'a CacheMark> {
        marks
            .cache
            .as_ref()
            .filter(|_| self.context.dialect.content.cache_marks)
    }
}

/// Returns the text of a result whose other parts are moved.
fn text_of_result(content: &Content) -> Cow<'_, str> {
    match content.text() {
        text if text.trim().is_empty() => MOVED.into(),
        text => text,
    }
}

/// Returns whether a part is text.
pub(super) fn is_text(part: &ContentPart) -> bool {
    matches!(part, ContentPart::Text(_))
}

/// The JSON of a part.
pub(super) struct EncodedPart<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) part: &'a ContentPart,
    pub(super) cache: Option<&'a CacheMark>,
}

impl Serialize for EncodedPart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rule = self.context.dialect.content;
        let own = self
            .part
            .marks()
            .and_then(|marks| marks.cache.as_ref())
            .filter(|_| rule.cache_marks);
        let cache = own.or(self.cache);
        match self.part {
            ContentPart::Text(part) => EncodedText {
                text: &part.text,
                extra: &part.extra,
                cache,
            }
            .serialize(serializer),
            ContentPart::ImageUrl(part) => {
                self.media(rule.images, "image_url", &part.image_url, &part.extra, serializer)
            }
            ContentPart::InputAudio(part) if rule.audio == AudioRule::Data => {
                self.media(true, "input_audio", &part.input_audio.data, &part.extra, serializer)
            }
            ContentPart::InputAudio(part) => self.media(
                rule.audio == AudioRule::Object,
                "input_audio",
                &part.input_audio,
                &part.extra,
                serializer,
            ),
            ContentPart::File(part) => self.media(rule.files, "file", &part.file, &part.extra, serializer),
            // Unknown parts are sent unchanged.
            other => other.serialize(serializer),
        }
    }
}

impl EncodedPart<'_> {
    /// Encodes a part other than text. Cache marks are left out, because vendors of this API support them on text only.
    fn media<S: Serializer>(
        &self,
        is_supported: bool,
        kind: &str,
        value: &impl Serialize,
        extra: &Extra,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        if !is_supported {
            let what = format!("parts of the type `{kind}`");
            return Err(self
                .context
                .refuse("messages", &what, "leave it out, or use a vendor that supports it"));
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", kind)?;
        map.serialize_entry(kind, value)?;
        extra
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// The JSON of a text part.
pub(super) struct EncodedText<'a> {
    pub(super) text: &'a str,
    pub(super) extra: &'a Extra,
    pub(super) cache: Option<&'a CacheMark>,
}

impl Serialize for EncodedText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "text")?;
        map.serialize_entry("text", self.text)?;
        write_cache(self.cache, &mut map)?;
        self.extra
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// Writes a cache mark.
fn write_cache<S: SerializeMap>(cache: Option<&CacheMark>, map: &mut S) -> Result<(), S::Error> {
    #[derive(Serialize)]
    struct CacheControl<'a> {
        r#type: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        ttl: Option<&'a str>,
    }
    let control = |cache: &'_ CacheMark| -> Result<(), S::Error> {
        map.serialize_entry(
            CACHE_CONTROL,
            &CacheControl {
                r#type: "ephemeral",
                ttl: cache.ttl.as_deref(),
            },
        )
    };
    cache.map_or(Ok(()), control)
}
