//! [`Delta`]: the `delta` of an event, of a block or of the message.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::Value;

use super::nothing::nothing;
use crate::wire::lenient::{LooseText, Name, skip};

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
    /// Whatever else it has.
    pub(super) members: Vec<(Box<str>, Value)>,
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
                        "text" => &mut delta.text,
                        "thinking" => &mut delta.thinking,
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
