//! [`EncodedMessage`]: messages by role.

use std::sync::Arc;

use agcore_chat::{
    Content, ContentPart, Extra, InstructionMessage, Message, ToolMessage, UserMessage, tool_name::portable,
};
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{assistant::EncodedAssistant, content};
use crate::ollama::vendor::{check_name, unsupported};

/// A message in the form of the API.
pub(super) struct EncodedMessage<'a> {
    pub(super) message: &'a Message,
    /// The messages before it.
    pub(super) before: &'a [Arc<Message>],
}

impl Serialize for EncodedMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.message {
            Message::Developer(message) | Message::System(message) => instruction(message, serializer),
            Message::User(message) => user(message, serializer),
            Message::Assistant(message) => EncodedAssistant(message).serialize(serializer),
            Message::Tool(message) => self.result(message, serializer),
            Message::Function(_) => Err(unsupported("function messages", "rewrite them as tool messages")),
            other => Err(unsupported(
                &format!("messages of the role `{}`", other.role()),
                "leave them out",
            )),
        }
    }
}

impl EncodedMessage<'_> {
    fn result<S: Serializer>(&self, message: &ToolMessage, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "tool")?;
        content::write(&message.content, &mut map)?;
        if let Some(name) = self.tool_name(message) {
            map.serialize_entry("tool_name", &portable(name))?;
        }
        if !message.tool_call_id.is_empty() {
            map.serialize_entry("tool_call_id", &message.tool_call_id)?;
        }
        write_extra(&message.extra, &mut map)?;
        map.end()
    }

    /// Returns the name of the tool that produced a result. Servers without call ids match results by it.
    fn tool_name<'a>(&'a self, result: &'a ToolMessage) -> Option<&'a str> {
        let caller = || self.before.iter().rev().find_map(|message| message.as_assistant());
        let called = || {
            let call = caller()?.tool_calls().find(|call| call.id == result.tool_call_id)?;
            (!call.name.is_empty()).then_some(call.name.as_str())
        };
        called().or(result.name.as_deref())
    }
}

/// Writes an instruction. The role is always `system`, because the templates of few models support `developer`.
fn instruction<S: Serializer>(message: &InstructionMessage, serializer: S) -> Result<S::Ok, S::Error> {
    check_name(message.name.as_deref())?;
    let is_text = |part: &ContentPart| matches!(part, ContentPart::Text(_));
    if let Content::Parts(parts) = &message.content
        && !parts.iter().all(is_text)
    {
        return Err(unsupported(
            "parts other than text in instructions",
            "send them in a user message",
        ));
    }
    input("system", &message.content, &message.extra, serializer)
}

fn user<S: Serializer>(message: &UserMessage, serializer: S) -> Result<S::Ok, S::Error> {
    check_name(message.name.as_deref())?;
    input("user", &message.content, &message.extra, serializer)
}

fn input<S: Serializer>(role: &str, content: &Content, extra: &Extra, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("role", role)?;
    content::write(content, &mut map)?;
    write_extra(extra, &mut map)?;
    map.end()
}

/// Writes members that have no field.
fn write_extra<S: SerializeMap>(extra: &Extra, map: &mut S) -> Result<(), S::Error> {
    extra
        .iter()
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}
