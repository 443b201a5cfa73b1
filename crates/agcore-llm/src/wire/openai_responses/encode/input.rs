//! [`Input`]: the messages as items.

use agcore_chat::{ChatRequest, Content, Extra, Message, ToolMessage};
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};

use super::{
    assistant,
    content::{Owner, WrittenContent},
    context::{Context, refuse_name, refuse_role},
};

/// The list of items. Instructions stay where they are, as messages of their own role: `instructions` could hold but one
/// text, and only in front.
pub(super) struct Input<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) request: &'a ChatRequest,
}

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(None)?;
        for (at, message) in self.request.messages.iter().enumerate() {
            write(self.context, at, message, &mut items)?;
        }
        items.end()
    }
}

/// Writes the message at this place.
fn write<'a, S: SerializeSeq>(
    context: &'a Context<'a>,
    at: usize,
    message: &'a Message,
    items: &mut S,
) -> Result<(), S::Error> {
    match message {
        Message::Developer(said) | Message::System(said) => {
            refuse_name(said.name.as_deref())?;
            items.serialize_element(&Spoken {
                role: message.role().as_str(),
                content: &said.content,
                owner: Owner::Instruction,
                extra: &said.extra,
            })
        }
        Message::User(said) => {
            refuse_name(said.name.as_deref())?;
            items.serialize_element(&Spoken {
                role: "user",
                content: &said.content,
                owner: Owner::User,
                extra: &said.extra,
            })
        }
        Message::Assistant(said) => assistant::write(context, at, said, items),
        Message::Tool(result) => items.serialize_element(&WrittenResult { context, at, result }),
        Message::Function(_) => Err(refuse_role(message, "rewrite it as a tool message")),
        other => Err(refuse_role(other, "leave it out")),
    }
}

/// A message of the application or the user.
struct Spoken<'a> {
    role: &'a str,
    content: &'a Content,
    owner: Owner,
    extra: &'a Extra,
}

impl Serialize for Spoken<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", self.role)?;
        map.serialize_entry(
            "content",
            &WrittenContent {
                content: self.content,
                owner: self.owner,
            },
        )?;
        write_extra(self.extra, &mut map)?;
        map.end()
    }
}

/// The result of a call. Its tool's name is left out, as it only repeats what the call says.
struct WrittenResult<'a> {
    context: &'a Context<'a>,
    at: usize,
    result: &'a ToolMessage,
}

impl Serialize for WrittenResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { context, at, result } = self;
        let kind = if context.is_custom(&result.tool_call_id) {
            "custom_tool_call_output"
        } else {
            "function_call_output"
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", kind)?;
        map.serialize_entry("call_id", &context.call_ids.get(*at, &result.tool_call_id))?;
        map.serialize_entry(
            "output",
            &WrittenContent {
                content: &result.content,
                owner: Owner::Tool,
            },
        )?;
        write_extra(&result.extra, &mut map)?;
        map.end()
    }
}

/// Writes members that have no field. The marks of a message never stand there.
fn write_extra<S: SerializeMap>(extra: &Extra, map: &mut S) -> Result<(), S::Error> {
    extra
        .iter()
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}
