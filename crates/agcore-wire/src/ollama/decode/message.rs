//! [`Message`]: the `message` of a line.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserializer,
    de::{self, DeserializeSeed, MapAccess},
};
use serde_json::Value;

use super::call::Calls;
use crate::{
    decode::lenient::{AnswerText, MemberName, NonEmptyText, is_blank, skip},
    delta::{CallFragment, Place, ReplyDelta},
    ollama::vendor::CHOICE,
};

/// A bound on the number of members that are kept, well above what any server sends.
const MAX_MEMBERS: usize = 64;

/// A message object that is parsed but not emitted yet.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) thinking: Option<Text>,
    pub(super) content: Option<Text>,
    pub(super) calls: Vec<CallFragment>,
    /// Members that are kept for the response.
    pub(super) members: Vec<(Box<str>, Value)>,
    /// Whether there is a message object at all.
    pub(super) is_present: bool,
    /// Whether there is a plain string instead, as in the errors of gateways.
    pub(super) is_error_text: bool,
}

/// The members without a field that are kept for the response. Of members that every line repeats, only the first
/// occurrence is kept.
#[derive(Debug, Default)]
pub(super) struct KeptMembers(Vec<(Place, Box<str>)>);

impl KeptMembers {
    /// Reads a member; `None` if it is blank or was kept before.
    pub(super) fn read<'de, A: MapAccess<'de>>(
        &mut self,
        place: Place,
        name: &str,
        map: &mut A,
    ) -> Result<Option<(Box<str>, Value)>, A::Error> {
        let is_kept = || self.0.iter().any(|(at, kept)| *at == place && **kept == *name);
        if self.0.len() >= MAX_MEMBERS || is_kept() {
            return skip(map).map(|()| None);
        }
        let value: Value = map.next_value()?;
        if is_blank(&value) {
            return Ok(None);
        }
        self.0.push((place, name.into()));
        Ok(Some((name.into(), value)))
    }
}

/// Emits members that are kept for the response.
pub(super) fn push_members(place: Place, members: Vec<(Box<str>, Value)>, out: &mut Vec<ReplyDelta>) {
    let deltas = members
        .into_iter()
        .map(|(name, value)| ReplyDelta::Member { place, name, value });
    out.extend(deltas);
}

/// Deserializes a message.
pub(super) struct MessageSeed<'a>(pub(super) &'a mut KeptMembers);

impl<'de> DeserializeSeed<'de> for MessageSeed<'_> {
    type Value = Message;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Message, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for MessageSeed<'_> {
    type Value = Message;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Message, E> {
        Ok(Message::default())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Message, E> {
        Ok(Message {
            is_error_text: !text.is_empty(),
            ..Message::default()
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
        let mut message = Message {
            is_present: true,
            ..Message::default()
        };
        while let Some(name) = map.next_key::<MemberName<'de>>()? {
            match name.as_str() {
                "role" => skip(&mut map)?,
                "content" => message.content = map.next_value::<AnswerText<NonEmptyText>>()?.0.0,
                "thinking" => message.thinking = map.next_value::<NonEmptyText>()?.0,
                "tool_calls" => message.calls = map.next_value::<Calls>()?.0,
                other => {
                    let member = self.0.read(Place::Message(CHOICE), other, &mut map)?;
                    message.members.extend(member);
                }
            }
        }
        Ok(message)
    }
}
