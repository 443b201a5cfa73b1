//! [`EncodedMessage`]: messages of all roles.

use agcore_chat::{
    Extra, FunctionMessage, InstructionMessage, Message, Role, ToolMessage, UserMessage, tool_name::portable,
};
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{
    assistant::EncodedAssistant,
    content::{EncodedContent, Owner},
    context::Context,
};
use crate::dialect::InstructionRole;

/// The JSON of a message.
pub(super) struct EncodedMessage<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) message: &'a Message,
}

impl Serialize for EncodedMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let context = self.context;
        match self.message {
            Message::Developer(message) => self.instruction(Role::Developer, message, serializer),
            Message::System(message) => self.instruction(Role::System, message, serializer),
            Message::User(message) => self.user(message, serializer),
            Message::Assistant(message) => EncodedAssistant { context, message }.serialize(serializer),
            Message::Tool(message) => self.tool_result(message, serializer),
            Message::Function(message) => self.function(message, serializer),
            other => Err(context.refuse(
                "messages",
                &format!("messages with the role `{}`", other.role()),
                "leave it out",
            )),
        }
    }
}

impl EncodedMessage<'_> {
    fn instruction<S: Serializer>(
        &self,
        role: Role,
        message: &InstructionMessage,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let role = match self.context.dialect.instructions {
            InstructionRole::AsGiven => role,
            InstructionRole::System => Role::System,
            InstructionRole::User => Role::User,
        };
        let InstructionMessage {
            content,
            name,
            marks,
            extra,
        } = message;
        let content = EncodedContent {
            context: self.context,
            content,
            marks,
            owner: Owner::Instruction,
        };
        self.named(role, &content, name.as_deref(), extra, serializer)
    }

    fn user<S: Serializer>(&self, message: &UserMessage, serializer: S) -> Result<S::Ok, S::Error> {
        let UserMessage {
            content,
            name,
            marks,
            extra,
        } = message;
        let content = EncodedContent {
            context: self.context,
            content,
            marks,
            owner: Owner::User,
        };
        self.named(Role::User, &content, name.as_deref(), extra, serializer)
    }

    fn named<S: Serializer>(
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

    fn tool_result<S: Serializer>(&self, message: &ToolMessage, serializer: S) -> Result<S::Ok, S::Error> {
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
        // The name repeats that of the call, so it is sent only to vendors that require it.
        if let Some(name) = name.as_ref().filter(|_| context.dialect.tools.result_name) {
            map.serialize_entry("name", &portable(name))?;
        }
        map.serialize_entry(
            "content",
            &EncodedContent {
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
                .refuse("messages", "function messages", "rewrite them as tool messages"));
        }
        self.named(
            Role::Function,
            &message.content,
            Some(&portable(&message.name)),
            &message.extra,
            serializer,
        )
    }
}

/// Writes the members that have no field. They never contain the marks of a message.
fn write_extra<S: SerializeMap>(extra: &Extra, map: &mut S) -> Result<(), S::Error> {
    extra
        .iter()
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}
