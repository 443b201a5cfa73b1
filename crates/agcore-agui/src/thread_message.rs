//! [`ThreadMessage`]: a message of a conversation in the form of AG-UI.

mod content;

use agcore_chat::{AssistantMessage, Content, Message, ToolCall, ToolMessage, UserMessage};
use serde_json::{Map, Value, json};

use content::{content_from, content_to_value};

/// A message of a conversation, with its id.
///
/// ```
/// use agcore_agui::ThreadMessage;
/// use agcore_chat::Message;
/// use serde_json::json;
///
/// let message = ThreadMessage::new("message_1", Message::user("Good day"));
/// assert_eq!(message.to_value(), json!({"id": "message_1", "role": "user", "content": "Good day"}));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ThreadMessage {
    /// The id.
    pub id: String,
    /// The message.
    pub body: ThreadBody,
    /// Members of a client's message that agcore does not know. They are not sent back.
    pub extra: Map<String, Value>,
}

/// The content of a message of a conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ThreadBody {
    /// A message that a model can be sent.
    Message(Box<Message>),
    /// The text of reasoning that a client shows.
    Reasoning(String),
    /// An activity that a client shows.
    Activity {
        /// The type.
        kind: String,
        /// The content.
        content: Map<String, Value>,
    },
}

impl ThreadMessage {
    /// Creates a message.
    pub fn new(id: impl Into<String>, message: impl Into<Message>) -> Self {
        Self::with_body(id, ThreadBody::Message(Box::new(message.into())))
    }

    /// Creates a message of reasoning.
    pub fn reasoning(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::with_body(id, ThreadBody::Reasoning(text.into()))
    }

    fn with_body(id: impl Into<String>, body: ThreadBody) -> Self {
        Self {
            id: id.into(),
            body,
            extra: Map::new(),
        }
    }

    /// Returns the message, unless it is only for display.
    pub fn message(&self) -> Option<&Message> {
        match &self.body {
            ThreadBody::Message(message) => Some(message),
            _ => None,
        }
    }

    /// Returns the message as AG-UI defines it. Parts that AG-UI cannot express are left out.
    pub fn to_value(&self) -> Value {
        let id = &self.id;
        match &self.body {
            ThreadBody::Message(message) => message_value(id, message),
            ThreadBody::Reasoning(text) => json!({"id": id, "role": "reasoning", "content": text}),
            ThreadBody::Activity { kind, content } => {
                json!({"id": id, "role": "activity", "activityType": kind, "content": content})
            }
        }
    }

    /// Reads a message. The error names the member and what was expected.
    pub(crate) fn from_value(value: Value) -> Result<Self, (&'static str, &'static str)> {
        let Value::Object(mut members) = value else {
            return Err(("", "must be an object"));
        };
        let id = text(&mut members, "id")?.ok_or(("id", "must be a text"))?;
        let role = text(&mut members, "role")?.ok_or(("role", "must be a text"))?;
        let body = match role.as_str() {
            "user" => {
                let message = UserMessage {
                    content: content(&mut members)?.ok_or(("content", "must be a text or an array of parts"))?,
                    name: text(&mut members, "name")?,
                    ..UserMessage::default()
                };
                message.into()
            }
            "assistant" => assistant(&mut members)?,
            "tool" => tool(&mut members)?,
            "system" => Message::system(content(&mut members)?.unwrap_or_default()),
            "developer" => Message::developer(content(&mut members)?.unwrap_or_default()),
            "reasoning" => return Ok(Self::display(id, reasoning(&mut members)?, members)),
            "activity" => return Ok(Self::display(id, activity(&mut members)?, members)),
            _ => {
                return Err((
                    "role",
                    "must be user, assistant, system, developer, tool, reasoning or activity",
                ));
            }
        };
        Ok(Self::display(id, ThreadBody::Message(Box::new(body)), members))
    }

    fn display(id: String, body: ThreadBody, extra: Map<String, Value>) -> Self {
        Self { id, body, extra }
    }
}

fn message_value(id: &str, message: &Message) -> Value {
    let mut members = Map::new();
    members.insert("id".to_owned(), id.into());
    members.insert("role".to_owned(), message.role().as_str().into());
    match message {
        Message::User(user) => {
            members.insert("content".to_owned(), content_to_value(&user.content));
            if let Some(name) = &user.name {
                members.insert("name".to_owned(), name.as_str().into());
            }
        }
        Message::Assistant(assistant) => {
            let text = assistant.refusal_text().map_or_else(|| assistant.text(), Into::into);
            if !text.is_empty() {
                members.insert("content".to_owned(), text.as_ref().into());
            }
            let calls: Vec<Value> = assistant.tool_calls().map(call_value).collect();
            if !calls.is_empty() {
                members.insert("toolCalls".to_owned(), calls.into());
            }
        }
        Message::Tool(tool) => {
            // Clients before 1.0 take texts only.
            members.insert("content".to_owned(), tool.content.text().into());
            members.insert("toolCallId".to_owned(), tool.tool_call_id.as_str().into());
            if tool.marks.is_error {
                members.insert("error".to_owned(), tool.content.text().into());
            }
        }
        other => {
            // The API of OpenAI has messages of functions, which AG-UI has not.
            if matches!(other, Message::Function(_)) {
                members.insert("role".to_owned(), "system".into());
            }
            members.insert("content".to_owned(), other.text().into());
        }
    }
    Value::Object(members)
}

fn call_value(call: &ToolCall) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.raw_input()},
    })
}

fn assistant(members: &mut Map<String, Value>) -> Result<Message, (&'static str, &'static str)> {
    let mut message = match content(members)? {
        Some(content) => AssistantMessage::new(content.text()),
        None => AssistantMessage::default(),
    };
    let calls = match members.remove("toolCalls") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(calls)) => calls,
        Some(_) => return Err(("toolCalls", "must be an array")),
    };
    for call in &calls {
        let member = |pointer: &str| call.pointer(pointer).and_then(Value::as_str);
        let (Some(id), Some(name)) = (member("/id"), member("/function/name")) else {
            return Err(("toolCalls", "must contain calls with an id and a function with a name"));
        };
        let arguments = member("/function/arguments").unwrap_or("{}");
        message = message.with_call(ToolCall::function(id, name, arguments));
    }
    Ok(message.into())
}

fn tool(members: &mut Map<String, Value>) -> Result<Message, (&'static str, &'static str)> {
    let mut message = ToolMessage {
        content: content(members)?.unwrap_or_default(),
        tool_call_id: text(members, "toolCallId")?.ok_or(("toolCallId", "must be a text"))?,
        ..ToolMessage::default()
    };
    if let Some(error) = text(members, "error")? {
        message.marks.is_error = true;
        let text = message.content.text();
        if text.is_empty() {
            message.content = error.into();
        } else if text != error {
            message.content = format!("{error}\n{text}").into();
        }
    }
    Ok(message.into())
}

fn reasoning(members: &mut Map<String, Value>) -> Result<ThreadBody, (&'static str, &'static str)> {
    Ok(ThreadBody::Reasoning(text(members, "content")?.unwrap_or_default()))
}

fn activity(members: &mut Map<String, Value>) -> Result<ThreadBody, (&'static str, &'static str)> {
    let kind = text(members, "activityType")?.ok_or(("activityType", "must be a text"))?;
    match members.remove("content") {
        Some(Value::Object(content)) => Ok(ThreadBody::Activity { kind, content }),
        _ => Err(("content", "must be an object")),
    }
}

/// Removes a text; `null` is the same as none.
fn text(members: &mut Map<String, Value>, name: &'static str) -> Result<Option<String>, (&'static str, &'static str)> {
    match members.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err((name, "must be a text")),
    }
}

fn content(members: &mut Map<String, Value>) -> Result<Option<Content>, (&'static str, &'static str)> {
    match members.remove("content") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => content_from(value).map(Some).map_err(|rule| ("content", rule)),
    }
}
