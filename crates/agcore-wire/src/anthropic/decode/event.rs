//! [`MessageEvent`]: one event of a stream.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::{Value, value::RawValue};

use super::{block::StartedBlock, delta::Delta, message::Message, usage::RawUsage};
use crate::decode::lenient::{LenientCount, LenientText, MemberName, is_blank, skip};

/// One event of a stream.
#[derive(Debug, Default)]
pub(super) struct MessageEvent<'de> {
    pub(super) kind: EventKind,
    pub(super) index: u32,
    pub(super) delta: Delta<'de>,
    pub(super) usage: RawUsage,
    pub(super) members: Vec<(Box<str>, Value)>,
    message: Option<&'de RawValue>,
    block: Option<&'de RawValue>,
    has_type: bool,
    has_error: bool,
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum EventKind {
    MessageStart,
    BlockStart,
    BlockDelta,
    BlockStop,
    MessageDelta,
    MessageStop,
    /// Pings, and events that may be added to the API.
    #[default]
    Other,
}

impl EventKind {
    fn from_name(name: &[u8]) -> Self {
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

/// Parses an event. The name of the event matters only if its data has no `type`.
pub(super) fn read<'de>(data: &'de [u8], name: &[u8]) -> serde_json::Result<MessageEvent<'de>> {
    let mut event: MessageEvent<'de> = serde_json::from_slice(data)?;
    if !event.has_type {
        event.kind = EventKind::from_name(name);
    }
    Ok(event)
}

impl MessageEvent<'_> {
    /// Returns whether the event is an error: by its type, by an `error` member, or by a `message` without a type, as some
    /// gateways write it.
    pub(super) fn is_error(&self) -> bool {
        let is_flat = !self.has_type && self.kind == EventKind::Other && self.message.is_some();
        self.has_error || is_flat
    }

    /// Parses the message that starts a stream.
    pub(super) fn message(&self) -> serde_json::Result<Message> {
        self.message
            .map_or_else(|| Ok(Message::default()), |raw| Message::read(raw.get().as_bytes()))
    }

    /// Parses the block that starts with this event.
    pub(super) fn block(&self) -> serde_json::Result<StartedBlock> {
        self.block
            .map_or_else(|| Ok(StartedBlock::default()), |raw| serde_json::from_str(raw.get()))
    }
}

impl<'de> Deserialize<'de> for MessageEvent<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EventVisitor;
        impl<'de> de::Visitor<'de> for EventVisitor {
            type Value = MessageEvent<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event of a message")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MessageEvent<'de>, A::Error> {
                let mut event = MessageEvent::default();
                while let Some(name) = map.next_key::<MemberName<'de>>()? {
                    match name.as_str() {
                        "type" => {
                            let kind = map.next_value::<LenientText>()?.0;
                            event.kind = EventKind::from_name(kind.as_bytes());
                            event.has_type = !kind.is_empty();
                            event.has_error |= kind == "error";
                        }
                        "index" => {
                            let index = map.next_value::<LenientCount>()?.0.unwrap_or(0);
                            // An index only identifies a block, so a huge one may be hashed.
                            event.index = (index ^ (index >> 32)) as u32;
                        }
                        "delta" => event.delta = map.next_value()?,
                        "message" => event.message = Some(map.next_value()?),
                        "content_block" => event.block = Some(map.next_value()?),
                        "usage" => event.usage = map.next_value()?,
                        "error" => event.has_error |= !is_blank(&map.next_value()?),
                        _ if event.kind != EventKind::MessageDelta => skip(&mut map)?,
                        other => event.members.push((other.into(), map.next_value()?)),
                    }
                }
                Ok(event)
            }
        }
        deserializer.deserialize_map(EventVisitor)
    }
}
