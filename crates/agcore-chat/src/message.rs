//! [`Message`]: one utterance of a conversation, by role.
//!
//! Shapes after the Chat Completions API reference.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Serialize, Serializer,
    de::{self, MapAccess},
};
use serde_json::{Map, Value};

use crate::{
    assistant::AssistantMessage,
    content::Content,
    marks::Marks,
    object::{Extra, Object, Tagged, object, tagged, write_tagged},
};

/// One utterance, by the role of who speaks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// Instructions of the application (newer OpenAI models' name for system).
    Developer(InstructionMessage),
    /// Instructions of the application.
    System(InstructionMessage),
    /// The user speaks.
    User(UserMessage),
    /// The model speaks.
    Assistant(AssistantMessage),
    /// The result of a tool call.
    Tool(ToolMessage),
    /// The result of a legacy function call.
    Function(FunctionMessage),
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The application.
    Developer,
    /// The application.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// A function in the legacy form.
    Function,
}

impl Role {
    /// The role's name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Developer => "developer",
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Function => "function",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Message {
    /// Instructions with the role `system`.
    pub fn system(content: impl Into<Content>) -> Self {
        Self::System(InstructionMessage {
            content: content.into(),
            ..InstructionMessage::default()
        })
    }

    /// Instructions with the role `developer`.
    pub fn developer(content: impl Into<Content>) -> Self {
        Self::Developer(InstructionMessage {
            content: content.into(),
            ..InstructionMessage::default()
        })
    }

    /// What the user says.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::User(UserMessage {
            content: content.into(),
            ..UserMessage::default()
        })
    }

    /// What the model said, as one text.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(AssistantMessage::new(text))
    }

    /// The result of the call with this id.
    pub fn tool(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self::Tool(ToolMessage {
            tool_call_id: call_id.into(),
            content: content.into(),
            ..ToolMessage::default()
        })
    }

    /// Its content, unless it is the model's (which is made of blocks) or a legacy function's.
    pub fn content_mut(&mut self) -> Option<&mut Content> {
        match self {
            Self::Developer(message) | Self::System(message) => Some(&mut message.content),
            Self::User(message) => Some(&mut message.content),
            Self::Tool(message) => Some(&mut message.content),
            Self::Assistant(_) | Self::Function(_) => None,
        }
    }

    /// Who speaks.
    pub const fn role(&self) -> Role {
        match self {
            Self::Developer(_) => Role::Developer,
            Self::System(_) => Role::System,
            Self::User(_) => Role::User,
            Self::Assistant(_) => Role::Assistant,
            Self::Tool(_) => Role::Tool,
            Self::Function(_) => Role::Function,
        }
    }

    /// All its visible text, parts joined without a separator.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Developer(message) | Self::System(message) => message.content.text(),
            Self::User(message) => message.content.text(),
            Self::Assistant(message) => message.text(),
            Self::Tool(message) => message.content.text(),
            Self::Function(message) => Cow::Borrowed(message.content.as_deref().unwrap_or("")),
        }
    }

    /// The assistant message, if it is one.
    pub fn as_assistant(&self) -> Option<&AssistantMessage> {
        match self {
            Self::Assistant(message) => Some(message),
            _ => None,
        }
    }

    /// Whether these are instructions of the application (system or developer).
    pub const fn is_instruction(&self) -> bool {
        matches!(self, Self::Developer(_) | Self::System(_))
    }
}

impl From<AssistantMessage> for Message {
    fn from(message: AssistantMessage) -> Self {
        Self::Assistant(message)
    }
}

impl From<UserMessage> for Message {
    fn from(message: UserMessage) -> Self {
        Self::User(message)
    }
}

impl From<ToolMessage> for Message {
    fn from(message: ToolMessage) -> Self {
        Self::Tool(message)
    }
}

/// A user message of plain text.
impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::user(text)
    }
}

/// A user message of plain text.
impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::user(text)
    }
}

impl Tagged for Message {
    const TAG: &'static str = "role";
    const EXPECTED: &'static str = "a message: an object with a `role`";

    fn read<'de, A: MapAccess<'de>>(tag: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match tag {
            "developer" => Self::Developer(Object::read(map)?),
            "system" => Self::System(Object::read(map)?),
            "user" => Self::User(Object::read(map)?),
            "assistant" => Self::Assistant(Object::read(map)?),
            "tool" => Self::Tool(Object::read(map)?),
            "function" => Self::Function(Object::read(map)?),
            _ => {
                const ROLES: &[&str] = &["developer", "system", "user", "assistant", "tool", "function"];
                return Err(de::Error::unknown_variant(tag, ROLES));
            }
        })
    }

    fn untagged<E: de::Error>(_: Map<String, Value>) -> Result<Self, E> {
        Err(de::Error::missing_field("role"))
    }
}

tagged!(Message);

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let role = self.role().as_str();
        match self {
            Self::Developer(message) | Self::System(message) => write_tagged(serializer, "role", role, message),
            Self::User(message) => write_tagged(serializer, "role", role, message),
            Self::Assistant(message) => write_tagged(serializer, "role", role, message),
            Self::Tool(message) => write_tagged(serializer, "role", role, message),
            Self::Function(message) => write_tagged(serializer, "role", role, message),
        }
    }
}

/// Instructions of the application.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InstructionMessage {
    /// What they say.
    pub content: Content,
    /// The participant's name.
    pub name: Option<String>,
    /// Cache mark and origin.
    pub marks: Marks,
    /// Members that have no field.
    pub extra: Extra,
}
object!(InstructionMessage: "a system or developer message" {
    "content" => content [always], "name" => name, "agcore" => marks,
});

/// What the user says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserMessage {
    /// What they say.
    pub content: Content,
    /// The participant's name.
    pub name: Option<String>,
    /// Cache mark and origin.
    pub marks: Marks,
    /// Members that have no field.
    pub extra: Extra,
}
object!(UserMessage: "a user message" { "content" => content [always], "name" => name, "agcore" => marks });

/// The result of a tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolMessage {
    /// Id of the call it answers; never the tool's name.
    pub tool_call_id: String,
    /// What the tool gave back, or what went wrong.
    pub content: Content,
    /// The tool's name, which some servers want.
    pub name: Option<String>,
    /// Cache mark and origin.
    pub marks: Marks,
    /// Members that have no field.
    pub extra: Extra,
}
object!(ToolMessage: "a tool message" {
    "tool_call_id" => tool_call_id [always], "content" => content [always], "name" => name, "agcore" => marks,
});

/// The result of a legacy function call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FunctionMessage {
    /// The function's name.
    pub name: String,
    /// What it gave back.
    pub content: Option<String>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(FunctionMessage: "a function message" { "name" => name [always], "content" => content });
