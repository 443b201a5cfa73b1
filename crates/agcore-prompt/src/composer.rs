//! [`PromptComposer`]: assembles the messages of a request.

use std::sync::Arc;

use agcore_chat::{
    AssistantMessage, Block, ChatRequest, Content, ContentPart, Message, TextBlock, ToolCall, validate_messages,
};
use serde::Serialize;

use crate::{
    error::{PromptError, PromptErrorKind},
    template::PromptTemplate,
};

/// A builder for the messages of a request.
///
/// Message content is text, one content part, several content parts, or a template rendered with a context. The first
/// error is kept and returned by [`build`](Self::build), so the chain itself needs no `?`.
///
/// ```
/// use agcore_prompt::{ContentPart, PromptComposer, PromptTemplate};
/// use serde_json::json;
///
/// let persona = PromptTemplate::compile("You are {{name}}. Answer in {{language}}.")?;
/// let request = PromptComposer::new()
///     .with_system_template(&persona, &json!({"name": "Ada", "language": "French"}))
///     .with_user(vec![ContentPart::text("What is this?"), ContentPart::image_url("https://example.com/cat.png")])
///     .with_name("lin")
///     .build_request("gpt-5")?;
///
/// assert_eq!(request.messages[0].text(), "You are Ada. Answer in French.");
/// assert_eq!(request.messages.len(), 2);
/// # Ok::<(), agcore_prompt::PromptError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a composer does nothing until `build` or `build_request` is called"]
pub struct PromptComposer {
    messages: Vec<Message>,
    error: Option<PromptError>,
}

impl PromptComposer {
    /// Creates an empty composer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a composer that continues an existing conversation.
    ///
    /// ```
    /// use agcore_prompt::{Message, PromptComposer};
    ///
    /// let history = [Message::user("Hi"), Message::assistant("Hello!")];
    /// let messages = PromptComposer::from_messages(history).with_user("How are you?").build()?;
    /// assert_eq!(messages.len(), 3);
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    pub fn from_messages<M: Into<Message>>(messages: impl IntoIterator<Item = M>) -> Self {
        Self::new().with_messages(messages)
    }

    /// Appends a `system` message.
    pub fn with_system(self, content: impl Into<Content>) -> Self {
        self.with_message(Message::system(content))
    }

    /// Appends a `developer` message.
    pub fn with_developer(self, content: impl Into<Content>) -> Self {
        self.with_message(Message::developer(content))
    }

    /// Appends a `user` message.
    pub fn with_user(self, content: impl Into<Content>) -> Self {
        self.with_message(Message::user(content))
    }

    /// Appends an `assistant` message.
    pub fn with_assistant(self, content: impl Into<Content>) -> Self {
        self.with_message(assistant(content.into()))
    }

    /// Appends an `assistant` message that calls tools. The content may be empty.
    ///
    /// ```
    /// use agcore_prompt::{PromptComposer, ToolCall};
    ///
    /// let messages = PromptComposer::new()
    ///     .with_user("What time is it?")
    ///     .with_assistant_calls("", [ToolCall::function("call_1", "clock", "{}")])
    ///     .with_tool_result("call_1", "noon")
    ///     .build()?;
    /// assert_eq!(messages[2].text(), "noon");
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    pub fn with_assistant_calls(self, content: impl Into<Content>, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.with_message(
            calls
                .into_iter()
                .fold(assistant(content.into()), AssistantMessage::with_call),
        )
    }

    /// Appends a `tool` message with the result of the call with this id.
    pub fn with_tool_result(self, call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        self.with_message(Message::tool(call_id, content))
    }

    /// Renders a template and appends it as a `system` message.
    pub fn with_system_template<T: Serialize + ?Sized>(self, template: &PromptTemplate, context: &T) -> Self {
        self.with_rendered(template, context, Message::system)
    }

    /// Renders a template and appends it as a `developer` message.
    pub fn with_developer_template<T: Serialize + ?Sized>(self, template: &PromptTemplate, context: &T) -> Self {
        self.with_rendered(template, context, Message::developer)
    }

    /// Renders a template and appends it as a `user` message.
    pub fn with_user_template<T: Serialize + ?Sized>(self, template: &PromptTemplate, context: &T) -> Self {
        self.with_rendered(template, context, Message::user)
    }

    /// Renders a template and appends it as an `assistant` message.
    pub fn with_assistant_template<T: Serialize + ?Sized>(self, template: &PromptTemplate, context: &T) -> Self {
        self.with_rendered(template, context, Message::assistant)
    }

    /// Renders a template and appends it as the result of the call with this id.
    pub fn with_tool_result_template<T: Serialize + ?Sized>(
        self,
        call_id: impl Into<String>,
        template: &PromptTemplate,
        context: &T,
    ) -> Self {
        self.with_rendered(template, context, |text| Message::tool(call_id, text))
    }

    /// Appends a message unchanged.
    pub fn with_message(mut self, message: impl Into<Message>) -> Self {
        self.messages.push(message.into());
        self
    }

    /// Appends messages unchanged.
    pub fn with_messages<M: Into<Message>>(mut self, messages: impl IntoIterator<Item = M>) -> Self {
        self.messages.extend(messages.into_iter().map(Into::into));
        self
    }

    /// Sets the participant name of the last message.
    ///
    /// [`build`](Self::build) fails if the last message is a `tool` message, which has no name field, or if there is no
    /// message yet.
    ///
    /// ```
    /// use agcore_prompt::PromptComposer;
    ///
    /// let messages = PromptComposer::new().with_user("Hi, I am Lin.").with_name("lin").build()?;
    /// assert_eq!(serde_json::to_value(&messages[0]).unwrap()["name"], "lin");
    ///
    /// let error = PromptComposer::new().with_name("lin").with_user("Hi").build().unwrap_err();
    /// assert_eq!(error.to_string(), "no message to name: call `with_name` after adding a message");
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
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

    /// Returns the messages.
    ///
    /// # Errors
    /// Returns the first error of the chain: a template that failed to render, or a name for a message without a name
    /// field. Otherwise fails if the order of the messages is invalid (see [`validate_messages`]).
    ///
    /// ```
    /// use agcore_prompt::{PromptComposer, PromptErrorKind};
    ///
    /// let error = PromptComposer::new().with_user("Hello?").with_user("Anybody there?").build().unwrap_err();
    /// assert_eq!(error.kind(), &PromptErrorKind::InvalidSequence { index: 1 });
    /// ```
    pub fn build(self) -> Result<Vec<Message>, PromptError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        match validate_messages(&self.messages) {
            Ok(()) => Ok(self.messages),
            Err(error) => Err(PromptError::with_source(
                PromptErrorKind::InvalidSequence { index: error.index },
                error,
            )),
        }
    }

    /// Returns a request with the messages for a model.
    ///
    /// # Errors
    /// Fails like [`build`](Self::build).
    pub fn build_request(self, model: impl Into<String>) -> Result<ChatRequest, PromptError> {
        Ok(ChatRequest::new(self.build()?.into_iter().map(Arc::new)).with_model(model))
    }

    fn with_rendered<T: Serialize + ?Sized>(
        mut self,
        template: &PromptTemplate,
        context: &T,
        message: impl FnOnce(String) -> Message,
    ) -> Self {
        match template.render_from(context) {
            Ok(text) => self.with_message(message(text)),
            Err(error) => {
                self.fail(error);
                // A later `with_name` must refer to this message, not to the one before it.
                self.with_message(message(String::new()))
            }
        }
    }

    fn fail(&mut self, error: PromptError) {
        self.error.get_or_insert(error);
    }
}

/// Converts content, as the other roles have it, into an assistant message.
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
