//! The content of a message or delta: text, or an array of parts (Mistral mixes both).

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, value::MapAccessDeserializer},
};
use serde_json::{Map, Value};

/// What a `content` member says.
#[derive(Debug, Default)]
pub(super) enum Content {
    /// Nothing, or text.
    #[default]
    None,
    /// One text, and where it stands in the input when it stands there as it is.
    Text(Text, Option<usize>),
    /// Parts in order.
    Parts(Vec<Part>),
}

impl Content {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::None => true,
            Self::Text(..) => false,
            Self::Parts(parts) => parts.is_empty(),
        }
    }
}

/// One part of an array.
#[derive(Debug)]
pub(super) enum Part {
    /// Visible text.
    Text(Text),
    /// Reasoning text.
    Reasoning(Text),
    /// A refusal.
    Refusal(Text),
    /// A part nobody here knows.
    Other(Value),
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;
        impl<'de> de::Visitor<'de> for ContentVisitor {
            type Value = Content;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("content: a string or an array of parts")
            }
            fn visit_unit<E: de::Error>(self) -> Result<Content, E> {
                Ok(Content::None)
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Content, E> {
                Ok(if text.is_empty() {
                    Content::None
                } else {
                    Content::Text(text.into(), Some(text.as_ptr().addr()))
                })
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
                Ok(if text.is_empty() {
                    Content::None
                } else {
                    Content::Text(text.into(), None)
                })
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = seq.next_element::<Value>()? {
                    read_part(part, &mut parts);
                }
                Ok(Content::Parts(parts))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Content, A::Error> {
                let mut parts = Vec::new();
                read_part(Value::deserialize(MapAccessDeserializer::new(map))?, &mut parts);
                Ok(Content::Parts(parts))
            }
        }
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// Arrays are rare, so their parts are read as values.
fn read_part(part: Value, parts: &mut Vec<Part>) {
    match part {
        Value::String(text) => parts.push(Part::Text(text.into())),
        Value::Object(members) => match members.get("type").and_then(Value::as_str) {
            Some("text" | "output_text") => push_text(&members, "text", Part::Text, parts),
            Some("refusal") => push_text(&members, "refusal", Part::Refusal, parts),
            Some("thinking") => push_thinking(members.get("thinking"), parts),
            // A text that does not say so.
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

/// Mistral's thinking is a list of text parts, others send a string.
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
