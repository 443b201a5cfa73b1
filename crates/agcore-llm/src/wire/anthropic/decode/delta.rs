//! [`Delta`]: the `delta` of an event, of a block or of the message.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::Value;

use super::nothing::nothing;
use crate::wire::lenient::{LooseText, Name, PlacedText, skip};

/// What a delta adds. Its `type` only repeats which members it has.
#[derive(Debug, Default)]
pub(super) struct Delta {
    pub(super) text: Text,
    pub(super) thinking: Text,
    pub(super) partial_json: Text,
    pub(super) signature: Text,
    pub(super) citation: Option<Value>,
    /// Of the message.
    pub(super) stop_reason: Text,
    /// Where text or thinking stands in the input, when it stands there as it is.
    pub(super) address: Option<usize>,
    /// Whatever else it has.
    pub(super) members: Vec<(Box<str>, Value)>,
}

impl Delta {
    /// The address of text or thinking, when there is nothing else than either or both.
    pub(super) fn only_text(&self) -> Option<usize> {
        let has_more = !self.partial_json.is_empty()
            || !self.signature.is_empty()
            || self.citation.is_some()
            || !self.members.is_empty();
        self.address.filter(|_| !has_more)
    }
}

impl<'de> Deserialize<'de> for Delta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DeltaVisitor;
        impl<'de> de::Visitor<'de> for DeltaVisitor {
            type Value = Delta;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a delta")
            }
            nothing!(Delta);
            fn visit_str<E: de::Error>(self, _: &str) -> Result<Delta, E> {
                Ok(Delta::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Delta, A::Error> {
                let mut delta = Delta::default();
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    let text = match name.as_str() {
                        "type" => {
                            skip(&mut map)?;
                            continue;
                        }
                        name @ ("text" | "thinking") => {
                            let is_text = name == "text";
                            let PlacedText(text, address) = map.next_value()?;
                            if !text.is_empty() {
                                delta.address = address;
                            }
                            *(if is_text { &mut delta.text } else { &mut delta.thinking }) = text;
                            continue;
                        }
                        "partial_json" => &mut delta.partial_json,
                        "signature" => &mut delta.signature,
                        "stop_reason" => &mut delta.stop_reason,
                        "citation" => {
                            delta.citation = map.next_value()?;
                            continue;
                        }
                        other => {
                            let value: Value = map.next_value()?;
                            if !value.is_null() {
                                delta.members.push((other.into(), value));
                            }
                            continue;
                        }
                    };
                    *text = map.next_value::<LooseText>()?.0;
                }
                Ok(delta)
            }
        }
        deserializer.deserialize_any(DeltaVisitor)
    }
}
