//! [`MessageParts`]: the `delta` of a chunk and the `message` of a whole reply, which have the same reader.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserializer,
    de::{self, DeserializeSeed, MapAccess},
};
use serde_json::Value;

use super::{
    call::{CallsSeed, Fragments, FunctionPart},
    content::Content,
    state::State,
};
use crate::{
    decode::lenient::{MemberName, NonEmptyText, is_blank, or_absent_object, skip},
    delta::{CallFragment, Place},
    openai_chat::vendor::REASONING_DETAILS,
};

/// The contents of a delta or message.
#[derive(Debug, Default)]
pub(super) struct MessageParts<'de> {
    pub(super) content: Content<'de>,
    pub(super) refusal: Option<Text>,
    /// `reasoning_content`.
    pub(super) reasoning_content: Option<Text>,
    /// `reasoning`.
    pub(super) reasoning: Option<Text>,
    /// `reasoning_details`.
    pub(super) details: Vec<Value>,
    pub(super) calls: Fragments,
    /// The legacy form of a call.
    pub(super) function_call: Option<Box<CallFragment>>,
    pub(super) audio: Option<Value>,
    /// Other members, which are kept in the response.
    pub(super) members: Vec<(Box<str>, Value)>,
}

impl<'de> MessageParts<'de> {
    pub(super) fn is_empty(&self) -> bool {
        self.content.is_empty() && self.has_no_other_parts()
    }

    /// Returns the text as it is in the input, if there is nothing else and it has no escapes.
    pub(super) fn only_text(&self) -> Option<&'de str> {
        match self.content {
            Content::Text(_, source) if self.has_no_other_parts() => source,
            _ => None,
        }
    }

    fn has_no_other_parts(&self) -> bool {
        let Self {
            content: _,
            refusal: None,
            reasoning_content: None,
            reasoning: None,
            details,
            calls,
            function_call: None,
            audio: None,
            members,
        } = self
        else {
            return false;
        };
        details.is_empty() && calls.is_empty() && members.is_empty()
    }
}

/// Reads a delta or message.
pub(super) struct MessageSeed<'a> {
    pub(super) state: &'a mut State,
    /// The index of the choice, or 0 while it is unknown.
    pub(super) choice: u32,
}

impl<'de> DeserializeSeed<'de> for MessageSeed<'_> {
    type Value = MessageParts<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for MessageSeed<'_> {
    type Value = MessageParts<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message or delta")
    }

    or_absent_object!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut parts = MessageParts::default();
        while let Some(name) = map.next_key::<MemberName<'de>>()? {
            match name.as_str() {
                "role" => skip(&mut map)?,
                "content" => parts.content = map.next_value()?,
                "refusal" => parts.refusal = text(&mut map)?,
                "reasoning_content" => parts.reasoning_content = text(&mut map)?,
                "reasoning" => parts.reasoning = text(&mut map)?,
                REASONING_DETAILS => {
                    parts.details = match map.next_value()? {
                        Value::Array(details) => details,
                        other if is_blank(&other) => Vec::new(),
                        single => vec![single],
                    };
                }
                "tool_calls" => {
                    let seed = CallsSeed {
                        vendor: self.state.vendor(),
                        whole: self.state.is_whole(),
                    };
                    parts.calls = map.next_value_seed(seed)?;
                }
                "function_call" => {
                    parts.function_call = map.next_value::<FunctionPart>()?.legacy().map(Box::new);
                }
                "audio" => parts.audio = map.next_value()?,
                other => {
                    let member = self.state.member(Place::Message(self.choice), other, &mut map)?;
                    parts.members.extend(member);
                }
            }
        }
        Ok(parts)
    }
}

fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Text>, A::Error> {
    Ok(map.next_value::<NonEmptyText>()?.0)
}
