//! [`Input`]: the messages of a request as items.

use agcore_chat::{ChatRequest, Content, Extra, Marks, Message, ToolMessage};
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};

use super::{
    assistant,
    content::{EncodedContent, Owner},
    context::Context,
};
use crate::openai_responses::vendor::{check_name, unsupported};

/// The list of items.
///
/// Instructions keep their place, as messages of their own role. The member `instructions` could contain only one text, and
/// only at the front.
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

/// Writes the message at the index `at`.
fn write<'a, S: SerializeSeq>(
    context: &'a Context<'a>,
    at: usize,
    message: &'a Message,
    items: &mut S,
) -> Result<(), S::Error> {
    let content = |content: &'a Content, marks: &'a Marks, owner| EncodedContent {
        content,
        owner,
        mark: marks.cache.as_ref(),
        sends_marks: context.sends_marks,
    };
    match message {
        Message::Developer(instruction) | Message::System(instruction) => {
            check_name(instruction.name.as_deref())?;
            items.serialize_element(&InputMessage {
                role: message.role().as_str(),
                content: content(&instruction.content, &instruction.marks, Owner::Instruction),
                extra: &instruction.extra,
            })
        }
        Message::User(user) => {
            check_name(user.name.as_deref())?;
            items.serialize_element(&InputMessage {
                role: "user",
                content: content(&user.content, &user.marks, Owner::User),
                extra: &user.extra,
            })
        }
        Message::Assistant(reply) => assistant::write(context, at, reply, items),
        Message::Tool(result) => items.serialize_element(&EncodedResult { context, at, result }),
        Message::Function(_) => Err(unsupported_role(message, "rewrite them as tool messages")),
        other => Err(unsupported_role(other, "leave them out")),
    }
}

fn unsupported_role<E: serde::ser::Error>(message: &Message, advice: &str) -> E {
    unsupported(&format!("messages of the role `{}`", message.role()), advice)
}

/// A message of the user, or an instruction of the application.
struct InputMessage<'a> {
    role: &'a str,
    content: EncodedContent<'a>,
    extra: &'a Extra,
}

impl Serialize for InputMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", self.role)?;
        map.serialize_entry("content", &self.content)?;
        write_extra(self.extra, &mut map)?;
        map.end()
    }
}

/// The result of a call. The name of its tool is left out, because the call already contains it.
struct EncodedResult<'a> {
    context: &'a Context<'a>,
    at: usize,
    result: &'a ToolMessage,
}

impl Serialize for EncodedResult<'_> {
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
            &EncodedContent {
                content: &result.content,
                owner: Owner::Tool,
                mark: result.marks.cache.as_ref(),
                sends_marks: context.sends_marks,
            },
        )?;
        write_extra(&result.extra, &mut map)?;
        map.end()
    }
}

/// Writes members that have no field. The marks of a message are never among them.
fn write_extra<S: SerializeMap>(extra: &Extra, map: &mut S) -> Result<(), S::Error> {
    extra
        .iter()
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}
