//! Messages by role.

use std::sync::Arc;

use agcore_chat::{Content, ContentPart, Extra, InstructionMessage, Message, ToolMessage, UserMessage};
use serde::{
    Serialize, Serializer,
    ser::{Error, SerializeMap},
};

use super::{
    assistant::WrittenAssistant,
    image,
    refusal::{check_name, refuse},
};

/// A message as it is written.
pub(super) struct WrittenMessage<'a> {
    pub(super) message: &'a Message,
    /// What stands before it.
    pub(super) before: &'a [Arc<Message>],
}

impl Serialize for WrittenMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.message {
            Message::Developer(message) | Message::System(message) => instruction(message, serializer),
            Message::User(message) => user(message, serializer),
            Message::Assistant(message) => WrittenAssistant(message).serialize(serializer),
            Message::Tool(message) => self.result(message, serializer),
            Message::Function(_) => Err(refuse("function messages", "rewrite them as tool messages")),
            other => Err(refuse(
                &format!("messages of the role `{}`", other.role()),
                "leave it out",
            )),
        }
    }
}

impl WrittenMessage<'_> {
    fn result<S: Serializer>(&self, message: &ToolMessage, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "tool")?;
        write_content(&message.content, &mut map)?;
        if let Some(name) = self.tool_of(message) {
            map.serialize_entry("tool_name", name)?;
        }
        if !message.tool_call_id.is_empty() {
            map.serialize_entry("tool_call_id", &message.tool_call_id)?;
        }
        write_extra(&message.extra, &mut map)?;
        map.end()
    }

    /// The tool that a result is of: servers before the ids of calls pair them by it.
    fn tool_of<'a>(&'a self, result: &'a ToolMessage) -> Option<&'a str> {
        let caller = || self.before.iter().rev().find_map(|message| message.as_assistant());
        let of_call = || {
            let call = caller()?.tool_calls().find(|call| call.id == result.tool_call_id)?;
            (!call.name.is_empty()).then_some(call.name.as_str())
        };
        of_call().or(result.name.as_deref())
    }
}

/// Few models' templates know the role `developer`; all know `system`.
fn instruction<S: Serializer>(message: &InstructionMessage, serializer: S) -> Result<S::Ok, S::Error> {
    check_name(message.name.as_deref())?;
    let is_text = |part: &ContentPart| matches!(part, ContentPart::Text(_));
    if let Content::Parts(parts) = &message.content
        && !parts.iter().all(is_text)
    {
        return Err(refuse(
            "other parts than text in instructions",
            "send them in a user message",
        ));
    }
    spoken("system", &message.content, &message.extra, serializer)
}

fn user<S: Serializer>(message: &UserMessage, serializer: S) -> Result<S::Ok, S::Error> {
    check_name(message.name.as_deref())?;
    spoken("user", &message.content, &message.extra, serializer)
}

fn spoken<S: Serializer>(role: &str, content: &Content, extra: &Extra, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("role", role)?;
    write_content(content, &mut map)?;
    write_extra(extra, &mut map)?;
    map.end()
}

/// The texts in one, then the pictures: the API has one place for each.
fn write_content<S: SerializeMap>(content: &Content, map: &mut S) -> Result<(), S::Error> {
    map.serialize_entry("content", &content.text())?;
    let Content::Parts(parts) = content else {
        return Ok(());
    };
    let mut images = Vec::new();
    for part in parts {
        match part {
            ContentPart::Text(_) => {}
            ContentPart::ImageUrl(part) => images.push(image::base64(&part.image_url.url).map_err(Error::custom)?),
            other => {
                return Err(refuse(
                    &kind_of(other),
                    "leave them out, or put what they say into text",
                ));
            }
        }
    }
    if images.is_empty() {
        Ok(())
    } else {
        map.serialize_entry("images", &images)
    }
}

fn kind_of(part: &ContentPart) -> String {
    let kind = match part {
        ContentPart::InputAudio(_) => "input_audio",
        ContentPart::File(_) => "file",
        ContentPart::Refusal(_) => "refusal",
        ContentPart::Other(raw) => raw.get("type").and_then(|kind| kind.as_str()).unwrap_or("unknown"),
        _ => "unknown",
    };
    format!("parts of the type `{kind}`")
}

/// Writes members that have no field.
fn write_extra<S: SerializeMap>(extra: &Extra, map: &mut S) -> Result<(), S::Error> {
    extra
        .iter()
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}
