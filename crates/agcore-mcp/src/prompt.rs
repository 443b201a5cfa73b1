//! [`PromptInfo`] and [`Prompt`]: the prompts that a server offers.

use agcore_chat::Message;

/// A prompt that a server offers, such as a command of a person: its name and arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct PromptInfo {
    /// The name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// A description for people.
    pub description: Option<String>,
    /// The arguments.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt. Its value is text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct PromptArgument {
    /// The name.
    pub name: String,
    /// A description for people.
    pub description: Option<String>,
    /// Whether the prompt needs the argument.
    pub is_required: bool,
}

/// A prompt that was filled in: messages for a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Prompt {
    /// A description for people.
    pub description: Option<String>,
    /// The messages, each of the user or the assistant.
    pub messages: Vec<Message>,
}

impl PromptInfo {
    /// Creates a prompt without arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: Some(description.into()),
            ..Self::default()
        }
    }

    /// Adds an argument.
    pub fn with_argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.push(argument);
        self
    }
}

impl PromptArgument {
    /// Creates an optional argument.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: Some(description.into()),
            is_required: false,
        }
    }

    /// Makes the argument required.
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }
}

impl Prompt {
    /// Creates a prompt of these messages.
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            description: None,
            messages: messages.into_iter().collect(),
        }
    }
}
