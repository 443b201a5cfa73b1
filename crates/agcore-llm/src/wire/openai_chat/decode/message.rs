//! The `delta` of a chunk and the `message` of a whole reply: one reader for both.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserializer,
    de::{self, DeserializeSeed, MapAccess},
};
use serde_json::Value;

use super::{
    call::{CallsSeed, FunctionPart},
    details::REASONING_DETAILS,
    said::Said,
    state::State,
};
use crate::{
    delta::Place,
    wire::lenient::{FilledText, Name, or_no_object, says_nothing, skip},
};

/// Reads a delta or message.
pub(super) struct SaidSeed<'a> {
    pub(super) state: &'a mut State,
    /// The choice it belongs to, as far as it is known yet.
    pub(super) choice: u32,
}

impl<'de> DeserializeSeed<'de> for SaidSeed<'_> {
    type Value = Said;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Said, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for SaidSeed<'_> {
    type Value = Said;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message or delta")
    }

    or_no_object!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Said, A::Error> {
        let mut said = Said::default();
        while let Some(name) = map.next_key::<Name<'de>>()? {
            match name.as_str() {
                "role" => skip(&mut map)?,
                "content" => said.content = map.next_value()?,
                "refusal" => said.refusal = text(&mut map)?,
                "reasoning_content" => said.reasoning_content = text(&mut map)?,
                "reasoning" => said.reasoning = text(&mut map)?,
                REASONING_DETAILS => {
                    said.details = match map.next_value()? {
                        Value::Array(details) => details,
                        other if says_nothing(&other) => Vec::new(),
                        one => vec![one],
                    };
                }
                "tool_calls" => {
                    let seed = CallsSeed {
                        vendor: self.state.vendor(),
                        whole: self.state.is_whole(),
                    };
                    said.calls = map.next_value_seed(seed)?;
                }
                "function_call" => {
                    said.function_call = map.next_value::<FunctionPart>()?.legacy().map(Box::new);
                }
                "audio" => said.audio = map.next_value()?,
                other => {
                    let member = self.state.member(Place::Message(self.choice), other, &mut map)?;
                    said.members.extend(member);
                }
            }
        }
        Ok(said)
    }
}

fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Text>, A::Error> {
    Ok(map.next_value::<FilledText>()?.0)
}
