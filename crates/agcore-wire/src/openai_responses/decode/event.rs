//! [`ResponseEvent`]: one event of a stream, its members borrowed.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::value::RawValue;

use super::json;
use crate::decode::lenient::{AnswerText, LenientCount, LenientStr, LenientText, LocatedText, MemberName, skip};

/// One event of a stream. All members are parsed alike, because the type may come last.
#[derive(Debug, Default)]
pub(super) struct ResponseEvent<'a> {
    /// The name of the event, `type`.
    pub(super) kind: LenientStr<'a>,
    pub(super) item_id: LenientStr<'a>,
    pub(super) output_index: Option<u64>,
    /// The index of the part within its item: `content_index` or `summary_index`.
    pub(super) part_index: u64,
    pub(super) delta: LocatedText<'a>,
    /// The whole text at the end of a part or a call: `text`, `refusal`, `arguments`, `input`.
    pub(super) whole: Option<&'a RawValue>,
    pub(super) item: Option<&'a RawValue>,
    pub(super) part: Option<&'a RawValue>,
    pub(super) annotation: Option<&'a RawValue>,
    pub(super) response: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
    has_message: bool,
}

impl<'a> ResponseEvent<'a> {
    /// Parses the data of an event.
    pub(super) fn read(data: &'a [u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(data)
    }

    /// Returns whether an event that does not belong to the response reports a failure: by its name, or by its members if
    /// it has no name.
    pub(super) fn is_failure(&self, kind: &str) -> bool {
        kind == "error" || self.error.is_some() || (kind.is_empty() && self.has_message)
    }

    /// Parses the whole text; empty if there is none.
    pub(super) fn whole_text(&self) -> serde_json::Result<Text> {
        let Some(raw) = self.whole else {
            return Ok(Text::EMPTY);
        };
        // Servers that have parsed the arguments send them as an object.
        if raw.get().starts_with('{') {
            return Ok(raw.get().into());
        }
        serde_json::from_str::<AnswerText<LenientText>>(raw.get()).map(|text| text.0.0)
    }
}

impl<'de> Deserialize<'de> for ResponseEvent<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EventVisitor;
        impl<'de> de::Visitor<'de> for EventVisitor {
            type Value = ResponseEvent<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ResponseEvent<'de>, A::Error> {
                let mut event = ResponseEvent::default();
                while let Some(name) = map.next_key::<MemberName<'de>>()? {
                    event.read_member(name.as_str(), &mut map)?;
                }
                Ok(event)
            }
        }
        deserializer.deserialize_map(EventVisitor)
    }
}

impl<'de> ResponseEvent<'de> {
    fn read_member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = map.next_value()?,
            "item_id" => self.item_id = map.next_value()?,
            "output_index" => self.output_index = map.next_value::<LenientCount>()?.0,
            "content_index" | "summary_index" => self.part_index = map.next_value::<LenientCount>()?.0.unwrap_or(0),
            "delta" => self.delta = map.next_value::<AnswerText<_>>()?.0,
            "text" | "refusal" | "arguments" | "input" => self.whole = map.next_value()?,
            "item" => self.item = map.next_value()?,
            "part" => self.part = map.next_value()?,
            "annotation" => self.annotation = map.next_value()?,
            "response" => self.response = map.next_value()?,
            "error" => self.error = json::non_blank(map.next_value()?),
            "message" | "detail" => {
                self.has_message = true;
                skip(map)?;
            }
            _ => skip(map)?,
        }
        Ok(())
    }
}
