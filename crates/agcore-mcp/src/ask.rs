//! [`Elicitor`] and [`Sampler`]: answers of the application to servers that ask a person or a model.

#[cfg(feature = "client")]
use std::{fmt, sync::Arc};

use agcore_chat::Message;
use async_trait::async_trait;
use serde_json::{Map, Value};

/// Asks a person a question of a server (elicitation).
///
/// The server decides what is asked, so show its name, and never answer with secrets that the person did not type for
/// it.
///
/// ```
/// use agcore_mcp::{Elicitation, ElicitationAnswer, Elicitor};
/// use async_trait::async_trait;
///
/// /// Declines everything; a real one asks at the terminal.
/// struct Decline;
///
/// #[async_trait]
/// impl Elicitor for Decline {
///     async fn ask(&self, question: &Elicitation) -> ElicitationAnswer {
///         println!("{} asks: {}", question.server, question.message);
///         ElicitationAnswer::Decline
///     }
/// }
/// ```
#[async_trait]
pub trait Elicitor: Send + Sync {
    /// Asks the question. While this waits, the call that caused it does not time out for want of progress.
    async fn ask(&self, question: &Elicitation) -> ElicitationAnswer;

    /// Returns whether the person can be sent to a web page, the [URL](Elicitation::url) of a question; `false` by default.
    /// Servers learn of it when they are connected.
    fn shows_urls(&self) -> bool {
        false
    }
}

/// A question of a server to a person.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Elicitation {
    /// The name of the server, as the application knows it.
    pub server: String,
    /// The question.
    pub message: String,
    /// The JSON Schema of the answer: an object whose members are strings, numbers, booleans or choices. It may contain
    /// defaults. An object without members if there is a [`url`](Self::url).
    pub schema: Value,
    /// The web page on which the person gives the answer, which this program does not see. Accepting the question, with an
    /// empty object, means that the person agrees to open it. Show all of the URL before, and never open it unasked.
    pub url: Option<String>,
}

impl Elicitation {
    /// Creates a question.
    pub fn new(server: impl Into<String>, message: impl Into<String>, schema: Value) -> Self {
        Self {
            server: server.into(),
            message: message.into(),
            schema,
            url: None,
        }
    }

    /// Sets the web page on which the person gives the answer.
    #[must_use]
    pub fn with_url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }
}

/// The answer to a question of a server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitationAnswer {
    /// The person answered.
    Accept(Map<String, Value>),
    /// The person does not want to answer.
    Decline,
    /// The person closed the question.
    Cancel,
}

impl ElicitationAnswer {
    /// Returns the members of the answer, if the person answered.
    pub fn into_content(self) -> Option<Map<String, Value>> {
        match self {
            Self::Accept(content) => Some(content),
            Self::Decline | Self::Cancel => None,
        }
    }
}

/// Lets a server use a model of the application (sampling).
///
/// The server writes the messages and the application pays: an implementation should ask a person, or have a budget.
#[async_trait]
pub trait Sampler: Send + Sync {
    /// Asks a model.
    ///
    /// # Errors
    /// Why there is no answer, in a sentence for the server.
    async fn sample(&self, request: &SampleRequest) -> Result<SampleAnswer, String>;
}

/// A request of a server to a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SampleRequest {
    /// The name of the server, as the application knows it. Empty in a request that a server makes.
    pub server: String,
    /// The messages, each of the user or the assistant.
    pub messages: Vec<Message>,
    /// The system prompt that the server wants.
    pub system_prompt: Option<String>,
    /// The largest number of tokens of the answer.
    pub max_tokens: u32,
    /// The temperature that the server wants.
    pub temperature: Option<f32>,
    /// Texts that end the answer.
    pub stop_sequences: Vec<String>,
    /// Names or parts of names of models that the server prefers, the best first.
    pub model_hints: Vec<String>,
}

impl SampleRequest {
    /// Creates a request with messages of the user or the assistant.
    ///
    /// ```
    /// use agcore_chat::Message;
    /// use agcore_mcp::SampleRequest;
    ///
    /// let request = SampleRequest::new([Message::user("What is the capital of France?")], 100)
    ///     .with_system_prompt("Answer with one word.");
    /// assert_eq!(request.max_tokens, 100);
    /// ```
    pub fn new(messages: impl IntoIterator<Item = Message>, max_tokens: u32) -> Self {
        Self {
            server: String::new(),
            messages: messages.into_iter().collect(),
            system_prompt: None,
            max_tokens,
            temperature: None,
            stop_sequences: Vec::new(),
            model_hints: Vec::new(),
        }
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn with_system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Sets the temperature.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the texts that end the answer.
    #[must_use]
    pub fn with_stop_sequences<T: Into<String>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        self.stop_sequences = texts.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the names or parts of names of the preferred models, the best first.
    #[must_use]
    pub fn with_model_hints<T: Into<String>>(mut self, hints: impl IntoIterator<Item = T>) -> Self {
        self.model_hints = hints.into_iter().map(Into::into).collect();
        self
    }
}

/// The answer of a model to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampleAnswer {
    /// The text.
    pub text: String,
    /// The name of the model.
    pub model: String,
}

impl SampleAnswer {
    /// Creates an answer that the model ended by itself.
    pub fn new(text: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            model: model.into(),
        }
    }
}

/// The answers of the application to servers.
#[cfg(feature = "client")]
#[derive(Clone, Default)]
pub(crate) struct Answers {
    pub(crate) elicitor: Option<Arc<dyn Elicitor>>,
    pub(crate) sampler: Option<Arc<dyn Sampler>>,
    /// The folders that servers may use, as `file:` URIs; `None` if servers cannot ask for them.
    pub(crate) roots: Option<Vec<String>>,
}

#[cfg(feature = "client")]
impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers")
            .field("elicitor", &self.elicitor.is_some())
            .field("sampler", &self.sampler.is_some())
            .field("roots", &self.roots)
            .finish()
    }
}
