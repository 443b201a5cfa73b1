//! [`TextMessage`]: a message that is sent as a whole.

use agcore_chat::{Text, UsageSummary};
use serde_json::Value;

/// The status of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextStatus {
    /// The message is complete.
    #[default]
    Success,
    /// The message is an answer, but it is incomplete.
    PartialSuccess,
    /// The message is cut off, or reports a failure.
    Failed,
}

impl TextStatus {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::PartialSuccess => "partial_success",
            Self::Failed => "failed",
        }
    }
}

/// A message of the assistant that is sent as a whole, such as the checked answer of a stage.
///
/// ```
/// use agcore_agui::{Encoder, EventType, Input, Run, TextMessage};
///
/// let mut encoder = Encoder::new("thread_1", "run_1");
/// encoder.push(Input::Run(Run::started()))?;
/// let message = TextMessage::new("message_1", "The meeting is moved.").with_suggested_actions(["Tell Ann"]);
/// let events = encoder.push(Input::Text(message))?;
/// assert_eq!(events.last().unwrap().event_type(), EventType::TextMessageEnd);
/// assert_eq!(events.last().unwrap().own_member("answer").unwrap(), "The meeting is moved.");
/// # Ok::<(), agcore_agui::EncodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TextMessage {
    /// The id of the message.
    pub id: Text,
    /// The text.
    pub text: String,
    /// How the message ended.
    pub status: TextStatus,
    /// Suggestions for the next action of the user: texts or objects.
    pub suggested_actions: Vec<Value>,
    /// The code and the text of an error.
    pub error: Option<(Text, String)>,
    /// The usage of the model calls of the message.
    pub usage: Option<UsageSummary>,
    /// The step to which the message belongs. By default the one that started last.
    pub step: Option<Text>,
}

impl TextMessage {
    /// Creates a complete message.
    pub fn new(id: impl Into<Text>, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            text: text.into(),
            status: TextStatus::Success,
            suggested_actions: Vec::new(),
            error: None,
            usage: None,
            step: None,
        }
    }

    /// Sets how the message ended.
    #[must_use]
    pub fn with_status(mut self, status: TextStatus) -> Self {
        self.status = status;
        self
    }

    /// Sets what the user may want to do next.
    #[must_use]
    pub fn with_suggested_actions(mut self, actions: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        self.suggested_actions = actions.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the error, and the status `failed`.
    #[must_use]
    pub fn with_error(mut self, code: impl Into<Text>, message: impl Into<String>) -> Self {
        self.error = Some((code.into(), message.into()));
        self.with_status(TextStatus::Failed)
    }

    /// Sets the usage.
    #[must_use]
    pub fn with_usage(mut self, usage: UsageSummary) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the step to which the message belongs.
    #[must_use]
    pub fn in_step(mut self, step: impl Into<Text>) -> Self {
        self.step = Some(step.into());
        self
    }
}
