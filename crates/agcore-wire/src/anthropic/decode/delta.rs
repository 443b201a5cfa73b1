//! [`Delta`]: the `delta` of an event, for a block or for the message.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::Value;

use crate::{
    anthropic::vendor::SIGNATURE,
    decode::lenient::{AnswerText, LenientText, LocatedText, MemberName, skip},
};

/// The members of a delta. Its `type` is ignored, because the other members imply it.
#[derive(Debug, Default)]
pub(super) struct Delta<'a> {
    pub(super) text: Text,
    pub(super) thinking: Text,
    pub(super) partial_json: Text,
    pub(super) signature: Text,
    pub(super) citation: Option<Value>,
    /// Only in deltas of the message.
    pub(super) stop_reason: Text,
    /// The text or thinking as it is in the event, if it is there without escapes.
    pub(super) source: Option<&'a str>,
    /// All other members.
    pub(super) members: Vec<(Box<str>, Value)>,
}

impl<'a> Delta<'a> {
    /// Returns the text or thinking as it is in the event, if the delta contains nothing else.
    pub(super) fn only_text(&self) -> Option<&'a str> {
        let has_more = !self.partial_json.is_empty()
            || !self.signature.is_empty()
            || self.citation.is_some()
            || !self.members.is_empty();
        self.source.filter(|_| !has_more)
    }
}

impl<'de> Deserialize<'de> for Delta<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DeltaVisitor;
        impl<'de> de::Visitor<'de> for DeltaVisitor {
            type Value = Delta<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a delta")
            }
            or_default!();
            fn visit_str<E: de::Error>(self, _: &str) -> Result<Delta<'de>, E> {
                Ok(Delta::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Delta<'de>, A::Error> {
                let mut delta = Delta::default();
                while let Some(name) = map.next_key::<MemberName<'de>>()? {
                    let text = match name.as_str() {
                        "type" => {
                            skip(&mut map)?;
                            continue;
                        }
                        name @ ("text" | "thinking") => {
                            let is_text = name == "text";
                            let AnswerText(LocatedText { text, source }) = map.next_value()?;
                            if !text.is_empty() {
                                delta.source = source;
                            }
                            *(if is_text { &mut delta.text } else { &mut delta.thinking }) = text;
                            continue;
                        }
                        "partial_json" => &mut delta.partial_json,
                        SIGNATURE => &mut delta.signature,
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
                    *text = map.next_value::<LenientText>()?.0;
                }
                Ok(delta)
            }
        }
        deserializer.deserialize_any(DeltaVisitor)
    }
}
