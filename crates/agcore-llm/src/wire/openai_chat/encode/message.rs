//! Messages by role.

use agcore_chat::{Extra, FunctionMessage, InstructionMessage, Message, Role, ToolMessage, UserMessage};
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{
    assistant::WrittenAssistant,
    content::{Owner, WrittenContent},
    context::Context,
};
use crate::dialect::InstructionRole;

/// A message as it is written.
pub(super) struct WrittenMessage<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) message: &'a Message,
}

impl Serialize for WrittenMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let context = self.context;
        match self.message {
            Message::Developer(message) => self.instruction(Role::Developer, message, serializer),
            Message::System(message) => self.instruction(Role::System, message, serializer),
            Message::User(message) => self.user(message, serializer),
            Message::Assistant(message) => WrittenAssistant { context, message }.serialize(serializer),
            Message::Tool(message) => self.result(message, serializer),
            Message::Function(message) => self.function(message, serializer),
            other => Err(context.refuse(&format!("messages of the role `{}`", other.role()), "leave it out")),
        }
    }
}

impl WrittenMessage<'_> {
    fn instruction<S: Serializer>(
        &self,
        given: Role,
        message: &InstructionMessage,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let role = match self.context.dialect.instructions {
            InstructionRole::AsGiven => given,
            InstructionRole::System => Role::System,
            InstructionRole::User => Role::User,
        };
        let InstructionMessage {
            content,
            name,
            marks,
            extra,
        } = message;
        let content = WrittenContent {
            context: self.context,
            content,
            marks,
            owner: Owner::Instruction,
        };
        self.spoken(role, &content, name.as_deref(), extra, serializer)
    }

    fn user<S: Serializer>(&self, message: &UserMessage, serializer: S) -> Result<S::Ok, S::Error> {
        let UserMessage {
            content,
            name,
            marks,
            extra,
        } = message;
        let content = WrittenContent {
            context: self.context,
            content,
            marks,
            owner: Owner::User,
        };
        self.spoken(Role::User, &content, name.as_deref(), extra, serializer)
    }

    fn spoken<S: Serializer>(
        &self,
        role: Role,
        content: &impl Serialize,
        name: Option<&str>,
        extra: &Extra,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", &role)?;
        map.serialize_entry("content", content)?;
        self.context.write_name(name, &mut map)?;
        write_extra(extra, &mut map)?;
        map.end()
    }

    fn result<S: Serializer>(&self, message: &ToolMessage, serializer: S) -> Result<S::Ok, S::Error> {
        let context = self.context;
        let ToolMessage {
            tool_call_id,
            content,
            name,
            marks,
            extra,
        } = message;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", &Role::Tool)?;
        map.serialize_entry("tool_call_id", context.call_ids.get(tool_call_id))?;
        // It only repeats what the call says, so that it goes where it is wanted and nowhere else.
        if let Some(name) = name.as_ref().filter(|_| context.dialect.tools.result_name) {
            map.serialize_entry("name", name)?;
        }
        map.serialize_entry(
            "content",
            &WrittenContent {
                context,
                content,
                marks,
                owner: Owner::Tool,
            },
        )?;
        write_extra(extra, &mut map)?;
        map.end()
    }

    fn function<S: Serializer>(&self, message: &FunctionMessage, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.context.dialect.content.legacy_functions {
            return Err(self
                .context
                .refuse("function messages", "rewrite them as tool messages"));
        }
        self.spoken(
            Role::Function,
            &message.content,
            Some(&message.name),
            &message.extra,
            serializer,
        )
    }
}

/// Writes members that have no field. The marks of a message never stand there.
fn write_extra<S: SerializeMap>(extra: &Extra, map: &mut S) -> Result<(), S::Error> {
    extra
        .iter()
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}
