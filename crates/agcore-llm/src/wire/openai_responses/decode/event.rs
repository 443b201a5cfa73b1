//! [`WireEvent`]: one event, its members borrowed.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::value::RawValue;

use super::json;
use crate::wire::lenient::{LooseCount, LooseStr, LooseText, Name, PlacedText, skip};

/// One event. The name may come after everything else, so that all members are read alike.
#[derive(Debug, Default)]
pub(super) struct WireEvent<'a> {
    /// Its name, `type`.
    pub(super) kind: LooseStr<'a>,
    pub(super) item_id: LooseStr<'a>,
    pub(super) output_index: Option<u64>,
    /// The part within the item: `content_index` or `summary_index`.
    pub(super) part_index: u64,
    pub(super) delta: PlacedText,
    /// The whole text at its end: `text`, `refusal`, `arguments`, `input`.
    pub(super) whole: Option<&'a RawValue>,
    pub(super) item: Option<&'a RawValue>,
    pub(super) part: Option<&'a RawValue>,
    pub(super) annotation: Option<&'a RawValue>,
    pub(super) response: Option<&'a RawValue>,
    /// What it tells of a failure.
    pub(super) error: Option<&'a RawValue>,
    has_message: bool,
}

impl<'a> WireEvent<'a> {
    /// Reads the data of an event.
    pub(super) fn read(data: &'a [u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(data)
    }

    /// Whether an event that is not of the response tells a failure: by its name, by its members where it has none.
    pub(super) fn is_failure(&self, kind: &str) -> bool {
        kind == "error" || self.error.is_some() || (kind.is_empty() && self.has_message)
    }

    /// The whole text, as far as it is one.
    pub(super) fn whole_text(&self) -> serde_json::Result<Text> {
        let Some(raw) = self.whole else {
            return Ok(Text::EMPTY);
        };
        // Arguments come as an object from servers that have parsed them.
        if raw.get().starts_with('{') {
            return Ok(raw.get().into());
        }
        serde_json::from_str::<LooseText>(raw.get()).map(|text| text.0)
    }
}

impl<'de> Deserialize<'de> for WireEvent<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EventVisitor;
        impl<'de> de::Visitor<'de> for EventVisitor {
            type Value = WireEvent<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WireEvent<'de>, A::Error> {
                let mut event = WireEvent::default();
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    event.member(name.as_str(), &mut map)?;
                }
                Ok(event)
            }
        }
        deserializer.deserialize_map(EventVisitor)
    }
}

impl<'de> WireEvent<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = map.next_value()?,
            "item_id" => self.item_id = map.next_value()?,
            "output_index" => self.output_index = map.next_value::<LooseCount>()?.0,
            "content_index" | "summary_index" => self.part_index = map.next_value::<LooseCount>()?.0.unwrap_or(0),
            "delta" => self.delta = map.next_value()?,
            "text" | "refusal" | "arguments" | "input" => self.whole = map.next_value()?,
            "item" => self.item = map.next_value()?,
            "part" => self.part = map.next_value()?,
            "annotation" => self.annotation = map.next_value()?,
            "response" => self.response = map.next_value()?,
            "error" => self.error = json::filled(map.next_value()?),
            "message" | "detail" => {
                self.has_message = true;
                skip(map)?;
            }
            _ => skip(map)?,
        }
        Ok(())
    }
}
