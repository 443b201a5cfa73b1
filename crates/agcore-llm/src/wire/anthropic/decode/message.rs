//! [`Message`]: a whole reply, or the beginning of a streamed one.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, MapAccess, SeqAccess},
};
use serde_json::Value;

use super::{block::StartedBlock, usage::RawUsage};
use crate::wire::lenient::{LooseText, Name, skip};

/// A message.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) id: Text,
    pub(super) model: Text,
    pub(super) content: Vec<StartedBlock>,
    pub(super) stop_reason: Text,
    pub(super) usage: RawUsage,
    /// Whatever else it has.
    pub(super) members: Vec<(Box<str>, Value)>,
    pub(super) has_content: bool,
    /// Whether it is an error instead, of whatever shape.
    pub(super) is_error: bool,
}

/// Content, which some servers write as bare text.
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
                let (mut message, mut has_words) = (Message::default(), false);
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    match name.as_str() {
                        "type" => message.is_error |= map.next_value::<LooseText>()?.0 == "error",
                        "role" => skip(&mut map)?,
                        "id" => message.id = map.next_value::<LooseText>()?.0,
                        "model" => message.model = map.next_value::<LooseText>()?.0,
                        "stop_reason" => message.stop_reason = map.next_value::<LooseText>()?.0,
                        "content" => {
                            let content: Option<Content> = map.next_value()?;
                            message.has_content |= content.is_some();
                            message.content = content.unwrap_or_default().0;
                        }
                        "usage" => message.usage = map.next_value()?,
                        "error" => message.is_error |= !map.next_value::<Value>()?.is_null(),
                        "message" | "detail" => {
                            has_words = true;
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
                message.is_error |= has_words && !message.has_content;
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
                f.write_str("content: a list of blocks")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
                let block = StartedBlock {
                    kind: "text".into(),
                    text: text.into(),
                    ..StartedBlock::default()
                };
                Ok(Content(vec![block]))
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
