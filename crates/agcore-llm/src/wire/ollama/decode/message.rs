//! The `message` of a line.

use std::fmt;

use serde::{
    Deserializer,
    de::{self, DeserializeSeed, MapAccess},
};

use super::{call::Calls, said::Said, state::State};
use crate::{
    delta::Place,
    wire::lenient::{FilledText, Name, skip},
};

/// Reads a message.
pub(super) struct SaidSeed<'a>(pub(super) &'a mut State);

impl<'de> DeserializeSeed<'de> for SaidSeed<'_> {
    type Value = Said;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Said, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for SaidSeed<'_> {
    type Value = Said;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Said, E> {
        Ok(Said::default())
    }

    fn visit_str<E: de::Error>(self, words: &str) -> Result<Said, E> {
        Ok(Said {
            is_words: !words.is_empty(),
            ..Said::default()
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Said, A::Error> {
        let mut said = Said {
            is_there: true,
            ..Said::default()
        };
        while let Some(name) = map.next_key::<Name<'de>>()? {
            match name.as_str() {
                "role" => skip(&mut map)?,
                "content" => said.content = map.next_value::<FilledText>()?.0,
                "thinking" => said.thinking = map.next_value::<FilledText>()?.0,
                "tool_calls" => said.calls = map.next_value::<Calls>()?.0,
                other => said.members.extend(self.0.member(Place::Message(0), other, &mut map)?),
            }
        }
        Ok(said)
    }
}
