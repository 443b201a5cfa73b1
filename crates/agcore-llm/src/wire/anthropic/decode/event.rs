//! [`MessageEvent`]: what one event of a stream says, before it is told.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::{Value, value::RawValue};

use super::{block::StartedBlock, delta::Delta, message::Message, usage::RawUsage};
use crate::wire::lenient::{LooseCount, LooseText, Name, says_nothing, skip};

/// One event.
#[derive(Debug, Default)]
pub(super) struct MessageEvent<'de> {
    pub(super) kind: Kind,
    pub(super) index: u32,
    pub(super) delta: Delta,
    pub(super) usage: RawUsage,
    pub(super) members: Vec<(Box<str>, Value)>,
    message: Option<&'de RawValue>,
    block: Option<&'de RawValue>,
    has_type: bool,
    has_error: bool,
}

/// What an event is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    MessageStart,
    BlockStart,
    BlockDelta,
    BlockStop,
    MessageDelta,
    MessageStop,
    /// Pings, and what may be added to the API.
    #[default]
    Other,
}

impl Kind {
    fn of(name: &[u8]) -> Self {
        match name {
            b"message_start" => Self::MessageStart,
            b"content_block_start" => Self::BlockStart,
            b"content_block_delta" => Self::BlockDelta,
            b"content_block_stop" => Self::BlockStop,
            b"message_delta" => Self::MessageDelta,
            b"message_stop" => Self::MessageStop,
            _ => Self::Other,
        }
    }
}

/// Reads an event. The `type` in the data counts; the event's name only where there is none.
pub(super) fn read<'de>(data: &'de [u8], name: &[u8]) -> serde_json::Result<MessageEvent<'de>> {
    let mut event: MessageEvent<'de> = serde_json::from_slice(data)?;
    if !event.has_type {
        event.kind = Kind::of(name);
    }
    Ok(event)
}

impl MessageEvent<'_> {
    /// Whether it is an error: by its type, by an `error` member, or flat, as some gateways write it.
    pub(super) fn is_error(&self) -> bool {
        let is_flat = !self.has_type && self.kind == Kind::Other && self.message.is_some();
        self.has_error || is_flat
    }

    /// The message with which a stream begins.
    pub(super) fn message(&self) -> serde_json::Result<Message> {
        self.message
            .map_or_else(|| Ok(Message::default()), |raw| serde_json::from_str(raw.get()))
    }

    /// The block that begins.
    pub(super) fn block(&self) -> serde_json::Result<StartedBlock> {
        self.block
            .map_or_else(|| Ok(StartedBlock::default()), |raw| serde_json::from_str(raw.get()))
    }
}

impl<'de> Deserialize<'de> for MessageEvent<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MessageEventVisitor;
        impl<'de> de::Visitor<'de> for MessageEventVisitor {
            type Value = MessageEvent<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event of a message")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MessageEvent<'de>, A::Error> {
                let mut event = MessageEvent::default();
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    match name.as_str() {
                        "type" => {
                            let kind = map.next_value::<LooseText>()?.0;
                            event.kind = Kind::of(kind.as_bytes());
                            event.has_type = !kind.is_empty();
                            event.has_error |= kind == "error";
                        }
                        "index" => {
                            let index = map.next_value::<LooseCount>()?.0.unwrap_or(0);
                            // A huge index is a name, not a length: what counts is that it stays the same.
                            event.index = (index ^ (index >> 32)) as u32;
                        }
                        "delta" => event.delta = map.next_value()?,
                        "message" => event.message = Some(map.next_value()?),
                        "content_block" => event.block = Some(map.next_value()?),
                        "usage" => event.usage = map.next_value()?,
                        "error" => event.has_error |= !says_nothing(&map.next_value()?),
                        _ if event.kind != Kind::MessageDelta => skip(&mut map)?,
                        other => event.members.push((other.into(), map.next_value()?)),
                    }
                }
                Ok(event)
            }
        }
        deserializer.deserialize_map(MessageEventVisitor)
    }
}
