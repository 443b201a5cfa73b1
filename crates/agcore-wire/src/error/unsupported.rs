//! [`Unsupported`]: the parameter that an encoder refused.

use std::borrow::Cow;

/// The parameter of a request that an API cannot express.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, dialect, openai_chat::OpenAiChat};
///
/// let mut request = ChatRequest::new([Message::user("Hi")]);
/// request.seed = Some(1);
/// let wire = OpenAiChat::new(dialect::deepseek());
/// let error = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("deepseek-chat")).unwrap_err();
/// assert_eq!(error.unsupported().unwrap().name(), "seed");
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    name: Cow<'static, str>,
    nearest: Option<String>,
}

impl Unsupported {
    /// Creates a value for the parameter with this name.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            nearest: None,
        }
    }

    /// Sets the accepted value that is closest to the refused one.
    #[must_use]
    pub fn with_nearest(mut self, value: impl Into<String>) -> Self {
        self.nearest = Some(value.into());
        self
    }

    /// Returns the name of the parameter.
    ///
    /// It is the name of the field of [`ChatRequest`](agcore_chat::ChatRequest) (`seed`, `tool_choice`, `response_format`),
    /// `name` for the name of a participant, `strict` for strict mode of tools and response formats, or `messages` for a part
    /// or a role of the conversation.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the accepted value that is closest to the refused one: `1` for a temperature of 1.3, for example. `None`
    /// if the API has no similar value.
    pub fn nearest(&self) -> Option<&str> {
        self.nearest.as_deref()
    }
}
