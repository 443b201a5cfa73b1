//! [`Message`]: a whole reply, or the start of a streamed one.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, MapAccess, SeqAccess},
};
use serde_json::Value;

use super::{block::StartedBlock, usage::RawUsage};
use crate::decode::{
    answer::Answer,
    lenient::{LenientText, MemberName, skip},
};

/// A message object.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) id: Text,
    pub(super) model: Text,
    pub(super) content: Vec<StartedBlock>,
    pub(super) stop_reason: Text,
    pub(super) usage: RawUsage,
    /// All other members.
    pub(super) members: Vec<(Box<str>, Value)>,
    pub(super) has_content: bool,
    /// Whether the content is not text or a list of blocks with a type, so that it must be read as a value.
    is_unusual: bool,
    /// Whether the object is an error instead, in any of the known forms.
    pub(super) is_error: bool,
}

/// The content of a message, which some servers write as a plain string.
#[derive(Default)]
struct Content {
    blocks: Vec<StartedBlock>,
    is_unusual: bool,
}

impl Content {
    fn unusual() -> Self {
        Self {
            is_unusual: true,
            ..Self::default()
        }
    }
}

impl Message {
    /// Returns whether the message contains nothing at all.
    pub(super) fn is_empty(&self) -> bool {
        let texts = [&self.id, &self.model, &self.stop_reason];
        self.content.is_empty() && self.usage.is_empty() && texts.iter().all(|text| text.is_empty())
    }

    /// Parses a message.
    pub(super) fn read(data: &[u8]) -> serde_json::Result<Self> {
        let mut message: Self = serde_json::from_slice(data)?;
        if message.is_unusual {
            let mut value: Value = serde_json::from_slice(data)?;
            let content = value.get_mut("content").map(Value::take).unwrap_or_default();
            message.content = unusual_content(content)?;
        }
        Ok(message)
    }
}

/// Reads a content that is neither text nor a list of blocks with a type: a single block, or an answer that is JSON.
fn unusual_content(content: Value) -> serde_json::Result<Vec<StartedBlock>> {
    match Answer::new(content) {
        Answer::Text(text) if text.is_empty() => Ok(Vec::new()),
        Answer::Text(text) => Ok(vec![StartedBlock::text(&text)]),
        Answer::Parts(parts) => {
            let read = |part: Value| match part.get("type") {
                Some(_) => StartedBlock::deserialize(part),
                None => {
                    let text = part.as_str().or_else(|| part.get("text")?.as_str());
                    Ok(StartedBlock::text(text.unwrap_or_default()))
                }
            };
            parts.into_iter().map(read).collect()
        }
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MessageVisitor;
        impl<'de> de::Visitor<'de> for MessageVisitor {
            type Value = Message;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
                let (mut message, mut has_error_text) = (Message::default(), false);
                while let Some(name) = map.next_key::<MemberName<'de>>()? {
                    match name.as_str() {
                        "type" => message.is_error |= map.next_value::<LenientText>()?.0 == "error",
                        "role" => skip(&mut map)?,
                        "id" => message.id = map.next_value::<LenientText>()?.0,
                        "model" => message.model = map.next_value::<LenientText>()?.0,
                        "stop_reason" => message.stop_reason = map.next_value::<LenientText>()?.0,
                        "content" => {
                            let content: Option<Content> = map.next_value()?;
                            message.has_content |= content.is_some();
                            let content = content.unwrap_or_default();
                            (message.content, message.is_unusual) = (content.blocks, content.is_unusual);
                        }
                        "usage" => message.usage = map.next_value()?,
                        "error" => message.is_error |= !map.next_value::<Value>()?.is_null(),
                        "message" | "detail" => {
                            has_error_text = true;
                            skip(&mut map)?;
                        }
                        other => {
                            let value: Value = map.next_value()?;
                            if !value.is_null() {
                                message.members.push((other.into(), value));
                            }
                        }
                    }
                }
                message.is_error |= has_error_text && !message.has_content;
                Ok(message)
            }
        }
        deserializer.deserialize_map(MessageVisitor)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;
        impl<'de> de::Visitor<'de> for ContentVisitor {
            type Value = Content;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of content blocks")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
                Ok(Content {
                    blocks: vec![StartedBlock::text(text)],
                    ..Content::default()
                })
            }
            fn visit_bool<E: de::Error>(self, _: bool) -> Result<Content, E> {
                Ok(Content::unusual())
            }
            fn visit_i64<E: de::Error>(self, _: i64) -> Result<Content, E> {
                Ok(Content::unusual())
            }
            fn visit_u64<E: de::Error>(self, _: u64) -> Result<Content, E> {
                Ok(Content::unusual())
            }
            fn visit_f64<E: de::Error>(self, _: f64) -> Result<Content, E> {
                Ok(Content::unusual())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Content::unusual())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
                let mut content = Content::default();
                while let Some(block) = seq.next_element::<StartedBlock>()? {
                    content.is_unusual |= block.kind.is_empty();
                    content.blocks.push(block);
                }
                Ok(content)
            }
        }
        deserializer.deserialize_any(ContentVisitor)
    }
}
