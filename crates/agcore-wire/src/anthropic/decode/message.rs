//! [`Message`]: a whole reply, or the start of a streamed one.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, MapAccess, SeqAccess},
};
use serde_json::Value;

use super::{block::StartedBlock, usage::RawUsage};
use crate::decode::lenient::{LenientText, MemberName, skip};

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
    /// Whether the object is an error instead, in any of the known forms.
    pub(super) is_error: bool,
}

/// The content of a message, which some servers write as a plain string.
#[derive(Default)]
struct Content(Vec<StartedBlock>);

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
                            message.content = content.unwrap_or_default().0;
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
                Ok(Content(vec![StartedBlock::text(text)]))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Content::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content(blocks))
            }
        }
        deserializer.deserialize_any(ContentVisitor)
    }
}
