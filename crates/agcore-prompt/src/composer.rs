//! [`PromptComposer`]: messages, one after the other.

use std::sync::Arc;

use agcore_chat::{
    AssistantMessage, Block, ChatRequest, Content, ContentPart, Message, TextBlock, ToolCall, validate_messages,
};
use serde::Serialize;

use crate::{
    error::{PromptError, PromptErrorKind},
    template::PromptTemplate,
};

/// Messages, one after the other, ready for a request.
///
/// Content is text, one content part or several; or a template with a context. The first fault is kept and told by
/// [`build`](Self::build), so that the chain needs no `?` of its own.
///
/// ```
/// use agcore_prompt::{ContentPart, PromptComposer, PromptTemplate};
/// use serde_json::json;
///
/// let persona = PromptTemplate::compile("You are {{name}}. Answer in {{language}}.")?;
/// let request = PromptComposer::new()
///     .system_template(&persona, &json!({"name": "Ada", "language": "French"}))
///     .user(vec![ContentPart::text("What is this?"), ContentPart::image_url("https://example.com/cat.png")])
///     .with_name("lin")
///     .build_request("gpt-5")?;
///
/// assert_eq!(request.messages[0].text(), "You are Ada. Answer in French.");
/// assert_eq!(request.messages.len(), 2);
/// # Ok::<(), agcore_prompt::PromptError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a composer does nothing until its messages are built"]
pub struct PromptComposer {
    messages: Vec<Message>,
    fault: Option<PromptError>,
}

impl PromptComposer {
    /// A composer without messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// A composer that goes on from these messages.
    pub fn from_messages<M: Into<Message>>(messages: impl IntoIterator<Item = M>) -> Self {
        Self::new().messages(messages)
    }

    /// Adds instructions with the role `system`.
    pub fn system(self, content: impl Into<Content>) -> Self {
        self.message(Message::system(content))
    }

    /// Adds instructions with the role `developer`.
    pub fn developer(self, content: impl Into<Content>) -> Self {
        self.message(Message::developer(content))
    }

    /// Adds what the user says.
    pub fn user(self, content: impl Into<Content>) -> Self {
        self.message(Message::user(content))
    }

    /// Adds what the model said.
    pub fn assistant(self, content: impl Into<Content>) -> Self {
        self.message(assistant(content.into()))
    }

    /// Adds what the model said (perhaps nothing) and which tools it called.
    pub fn assistant_with_calls(self, content: impl Into<Content>, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.message(
            calls
                .into_iter()
                .fold(assistant(content.into()), AssistantMessage::with_call),
        )
    }

    /// Adds the result of the call with this id.
    pub fn tool(self, call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        self.message(Message::tool(call_id, content))
    }

    /// Adds rendered instructions with the role `system`.
    pub fn system_template<T: Serialize + ?Sized>(self, template: &PromptTemplate, context: &T) -> Self {
        self.rendered(template, context, Message::system)
    }

    /// Adds rendered instructions with the role `developer`.
    pub fn developer_template<T: Serialize + ?Sized>(self, template: &PromptTemplate, context: &T) -> Self {
        self.rendered(template, context, Message::developer)
    }

    /// Adds a rendered user message.
    pub fn user_template<T: Serialize + ?Sized>(self, template: &PromptTemplate, context: &T) -> Self {
        self.rendered(template, context, Message::user)
    }

    /// Adds a rendered assistant message.
    pub fn assistant_template<T: Serialize + ?Sized>(self, template: &PromptTemplate, context: &T) -> Self {
        self.rendered(template, context, Message::assistant)
    }

    /// Adds the rendered result of the call with this id.
    pub fn tool_template<T: Serialize + ?Sized>(
        self,
        call_id: impl Into<String>,
        template: &PromptTemplate,
        context: &T,
    ) -> Self {
        self.rendered(template, context, |text| Message::tool(call_id, text))
    }

    /// Adds a message as it is.
    pub fn message(mut self, message: impl Into<Message>) -> Self {
        self.messages.push(message.into());
        self
    }

    /// Adds messages as they are.
    pub fn messages<M: Into<Message>>(mut self, messages: impl IntoIterator<Item = M>) -> Self {
        self.messages.extend(messages.into_iter().map(Into::into));
        self
    }

    /// Names the participant who says the last message.
    ///
    /// A tool message has no participant to name, and is a fault; so is a name before the first message.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        match self.messages.last_mut() {
            Some(Message::System(last) | Message::Developer(last)) => last.name = Some(name),
            Some(Message::User(last)) => last.name = Some(name),
            Some(Message::Assistant(last)) => last.name = Some(name),
            Some(Message::Function(last)) => last.name = name,
            other => {
                let role = other.map(|message| message.role());
                self.fail(PromptErrorKind::NoName { role }.into());
            }
        }
        self
    }

    /// The messages.
    ///
    /// # Errors
    /// The first fault of the chain: a template that could not be rendered, or a name for a message that has none; else
    /// messages that may not be sent in this order (see [`validate_messages`]).
    pub fn build(self) -> Result<Vec<Message>, PromptError> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        match validate_messages(&self.messages) {
            Ok(()) => Ok(self.messages),
            Err(fault) => Err(PromptError::caused(
                PromptErrorKind::InvalidSequence { index: fault.index },
                fault,
            )),
        }
    }

    /// A request with the messages for this model.
    ///
    /// # Errors
    /// Those of [`build`](Self::build).
    pub fn build_request(self, model: impl Into<String>) -> Result<ChatRequest, PromptError> {
        Ok(ChatRequest::new(self.build()?.into_iter().map(Arc::new)).with_model(model))
    }

    fn rendered<T: Serialize + ?Sized>(
        mut self,
        template: &PromptTemplate,
        context: &T,
        message: impl FnOnce(String) -> Message,
    ) -> Self {
        match template.render_from(context) {
            Ok(text) => self.message(message(text)),
            Err(fault) => {
                self.fail(fault);
                // What is said of the last message later in the chain shall be said of this one.
                self.message(message(String::new()))
            }
        }
    }

    fn fail(&mut self, fault: PromptError) {
        self.fault.get_or_insert(fault);
    }
}

/// What the model said, from content as other roles have it.
fn assistant(content: Content) -> AssistantMessage {
    match content {
        Content::Text(text) => AssistantMessage::new(text),
        Content::Parts(parts) => AssistantMessage::from_blocks(parts.into_iter().map(block)),
    }
}

fn block(part: ContentPart) -> Block {
    match part {
        ContentPart::Text(part) => Block::Text(TextBlock {
            text: part.text,
            marks: part.marks,
            extra: part.extra,
            ..TextBlock::default()
        }),
        ContentPart::Refusal(part) => Block::Refusal(part),
        ContentPart::Other(raw) => Block::Other(raw),
        other => Block::Other(serde_json::to_value(other).unwrap_or_default()),
    }
}
