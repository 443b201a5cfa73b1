//! [`Content`]: the content of a message or delta, which is text, an array of parts (Mistral sends both), or an answer that
//! is JSON (Cloudflare).

use std::borrow::Cow;

use agcore_chat::Text;
use serde_json::{Map, Result, Value};

use crate::decode::{answer::Answer, json::JsonReader, lenient::answer_text};

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

/// Reads the value of a `content` member.
pub(super) fn read<'de>(json: &mut JsonReader<'de>) -> Result<Content<'de>> {
    match json.peek() {
        Some(b'"') => {
            let text = json.str()?;
            Ok(match text {
                text if text.is_empty() => Content::None,
                Cow::Borrowed(text) => Content::Text(text.into(), Some(text)),
                Cow::Owned(text) => Content::Text(text.into(), None),
            })
        }
        Some(b'n') => json.skip().map(|()| Content::None),
        _ => Ok(Content::from_value(json.value()?)),
    }
}

impl Content<'_> {
    /// Reads a content that is not a text, which is rare.
    fn from_value(content: Value) -> Self {
        match Answer::new(content) {
            Answer::Text(text) if text.is_empty() => Self::None,
            Answer::Text(text) => Self::Text(text.into(), None),
            Answer::Parts(items) => {
                let mut parts = Vec::new();
                items.into_iter().for_each(|item| read_part(item, &mut parts));
                Self::Parts(parts)
            }
        }
    }
}

fn read_part(part: Value, parts: &mut Vec<Part>) {
    match part {
        Value::String(text) => parts.push(Part::Text(text.into())),
        Value::Object(mut members) => match members.get("type").and_then(Value::as_str) {
            Some("text" | "output_text") => push_text(&mut members, "text", Part::Text, parts),
            Some("refusal") => push_text(&mut members, "refusal", Part::Refusal, parts),
            Some("thinking") => push_thinking(members.get("thinking"), parts),
            // Text without a type.
            None => push_text(&mut members, "text", Part::Text, parts),
            Some(_) => parts.push(Part::Other(Value::Object(members))),
        },
        _ => {}
    }
}

fn push_text(members: &mut Map<String, Value>, name: &str, part: fn(Text) -> Part, parts: &mut Vec<Part>) {
    if let Some(text) = members.shift_remove(name) {
        parts.push(part(answer_text(text).into()));
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
