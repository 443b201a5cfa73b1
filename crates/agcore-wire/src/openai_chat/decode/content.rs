//! [`Content`]: the content of a message or delta, which is text or an array of parts (Mistral sends both).

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, value::MapAccessDeserializer},
};
use serde_json::{Map, Value};

/// The value of a `content` member.
#[derive(Debug, Default)]
pub(super) enum Content<'de> {
    /// No content, or empty text.
    #[default]
    None,
    /// A text, and the same text borrowed from the input if it has no escapes there.
    Text(Text, Option<&'de str>),
    /// Parts in order.
    Parts(Vec<Part>),
}

impl Content<'_> {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::None => true,
            Self::Text(..) => false,
            Self::Parts(parts) => parts.is_empty(),
        }
    }
}

/// A part of an array.
#[derive(Debug)]
pub(super) enum Part {
    /// Visible text.
    Text(Text),
    /// Reasoning text.
    Reasoning(Text),
    /// A refusal.
    Refusal(Text),
    /// An unknown part.
    Other(Value),
}

impl<'de> Deserialize<'de> for Content<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;
        impl<'de> de::Visitor<'de> for ContentVisitor {
            type Value = Content<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("content, which is a string or an array of parts")
            }
            fn visit_unit<E: de::Error>(self) -> Result<Content<'de>, E> {
                Ok(Content::None)
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Content<'de>, E> {
                Ok(if text.is_empty() {
                    Content::None
                } else {
                    Content::Text(text.into(), Some(text))
                })
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Content<'de>, E> {
                Ok(if text.is_empty() {
                    Content::None
                } else {
                    Content::Text(text.into(), None)
                })
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content<'de>, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = seq.next_element::<Value>()? {
                    read_part(part, &mut parts);
                }
                Ok(Content::Parts(parts))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Content<'de>, A::Error> {
                let mut parts = Vec::new();
                read_part(Value::deserialize(MapAccessDeserializer::new(map))?, &mut parts);
                Ok(Content::Parts(parts))
            }
        }
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// Reads a part as a value, because arrays are rare.
fn read_part(part: Value, parts: &mut Vec<Part>) {
    match part {
        Value::String(text) => parts.push(Part::Text(text.into())),
        Value::Object(members) => match members.get("type").and_then(Value::as_str) {
            Some("text" | "output_text") => push_text(&members, "text", Part::Text, parts),
            Some("refusal") => push_text(&members, "refusal", Part::Refusal, parts),
            Some("thinking") => push_thinking(members.get("thinking"), parts),
            // Text without a type.
            None if members.get("text").is_some_and(Value::is_string) => push_text(&members, "text", Part::Text, parts),
            _ => parts.push(Part::Other(Value::Object(members))),
        },
        _ => {}
    }
}

fn push_text(members: &Map<String, Value>, name: &str, part: fn(Text) -> Part, parts: &mut Vec<Part>) {
    if let Some(Value::String(text)) = members.get(name) {
        parts.push(part(text.as_str().into()));
    }
}

/// Reads thinking, which is a list of text parts (Mistral) or a string (others).
fn push_thinking(thinking: Option<&Value>, parts: &mut Vec<Part>) {
    match thinking {
        Some(Value::String(text)) => parts.push(Part::Reasoning(text.as_str().into())),
        Some(Value::Array(items)) => {
            let texts = items
                .iter()
                .filter_map(|item| item.get("text").unwrap_or(item).as_str());
            parts.extend(texts.map(|text| Part::Reasoning(text.into())));
        }
        _ => {}
    }
}
