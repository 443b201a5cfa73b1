//! [`Message`]: a message of a conversation, by role.
//!
//! The shapes follow the Chat Completions API reference.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Serialize, Serializer,
    de::{self, MapAccess},
};
use serde_json::{Map, Value};

use crate::{
    content::{Content, marks::Marks},
    conversation::assistant::AssistantMessage,
    object::{Extra, Object, Tagged, object, tagged, write_tagged},
};

/// A message of a conversation, by the role of its author.
///
/// ```
/// use agcore_chat::{Message, Role};
///
/// let message: Message = serde_json::from_str(r#"{"role": "user", "content": "Hello"}"#)?;
/// assert_eq!(message, Message::user("Hello"));
/// assert_eq!((message.role(), &*message.text()), (Role::User, "Hello"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// Instructions of the application; the name that newer OpenAI models use for `system`.
    Developer(InstructionMessage),
    /// Instructions of the application.
    System(InstructionMessage),
    /// A message of the user.
    User(UserMessage),
    /// A reply of the model.
    Assistant(AssistantMessage),
    /// The result of a tool call.
    Tool(ToolMessage),
    /// The result of a legacy function call.
    Function(FunctionMessage),
}

/// The role of a message's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The application, under the newer name.
    Developer,
    /// The application.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// A function, in the legacy form of tools.
    Function,
}

impl Role {
    /// Returns the role's name in JSON.
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
    /// Creates instructions with the role `system`.
    pub fn system(content: impl Into<Content>) -> Self {
        Self::System(InstructionMessage {
            content: content.into(),
            ..InstructionMessage::default()
        })
    }

    /// Creates instructions with the role `developer`.
    pub fn developer(content: impl Into<Content>) -> Self {
        Self::Developer(InstructionMessage {
            content: content.into(),
            ..InstructionMessage::default()
        })
    }

    /// Creates a message of the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::User(UserMessage {
            content: content.into(),
            ..UserMessage::default()
        })
    }

    /// Creates a reply of the model with a single text block.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(AssistantMessage::new(text))
    }

    /// Creates the result of the tool call with this id.
    pub fn tool(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self::Tool(ToolMessage {
            tool_call_id: call_id.into(),
            content: content.into(),
            ..ToolMessage::default()
        })
    }

    /// Returns the content for modification, or `None` for replies of the model, which consist of blocks, and for
    /// results of legacy functions.
    pub fn content_mut(&mut self) -> Option<&mut Content> {
        match self {
            Self::Developer(message) | Self::System(message) => Some(&mut message.content),
            Self::User(message) => Some(&mut message.content),
            Self::Tool(message) => Some(&mut message.content),
            Self::Assistant(_) | Self::Function(_) => None,
        }
    }

    /// Returns the role of the message's author.
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

    /// Returns all visible text, parts and blocks joined without a separator.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Developer(message) | Self::System(message) => message.content.text(),
            Self::User(message) => message.content.text(),
            Self::Assistant(message) => message.text(),
            Self::Tool(message) => message.content.text(),
            Self::Function(message) => Cow::Borrowed(message.content.as_deref().unwrap_or("")),
        }
    }

    /// Returns the text that a person or a model wrote: like [`text`](Self::text), without the
    /// [parts that were added](Content::own_text) to a user message.
    pub fn own_text(&self) -> Cow<'_, str> {
        match self {
            Self::User(message) => message.content.own_text(),
            _ => self.text(),
        }
    }

    /// Returns the assistant message, if this is one.
    pub fn as_assistant(&self) -> Option<&AssistantMessage> {
        match self {
            Self::Assistant(message) => Some(message),
            _ => None,
        }
    }

    /// Returns whether these are instructions of the application (`system` or `developer`).
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

/// Creates a user message of plain text.
impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::user(text)
    }
}

/// Creates a user message of plain text.
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
    /// The content.
    pub content: Content,
    /// The name of the participant.
    pub name: Option<String>,
    /// The cache mark and the origin.
    pub marks: Marks,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(InstructionMessage: "a system or developer message" {
    "content" => content [always], "name" => name, "agcore" => marks,
});

/// A message of the user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserMessage {
    /// The content.
    pub content: Content,
    /// The name of the participant.
    pub name: Option<String>,
    /// The cache mark and the origin.
    pub marks: Marks,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(UserMessage: "a user message" { "content" => content [always], "name" => name, "agcore" => marks });

/// The result of a tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolMessage {
    /// The id of the call that this is the result of; never the tool's name.
    pub tool_call_id: String,
    /// The output of the tool, or a description of what went wrong.
    pub content: Content,
    /// The name of the tool, which some servers require.
    pub name: Option<String>,
    /// The cache mark and the origin.
    pub marks: Marks,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(ToolMessage: "a tool message" {
    "tool_call_id" => tool_call_id [always], "content" => content [always], "name" => name, "agcore" => marks,
});

/// The result of a legacy function call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FunctionMessage {
    /// The name of the function.
    pub name: String,
    /// The output of the function.
    pub content: Option<String>,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(FunctionMessage: "a function message" { "name" => name [always], "content" => content });
