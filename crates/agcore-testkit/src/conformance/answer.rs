//! [`Answer`]: what a server must answer, independent of any API.

use agcore_chat::{AssistantMessage, ChatResponse, Choice, FinishReason, Usage};

/// The answer that a server must give.
///
/// ```
/// use agcore_chat::{FinishReason, Usage};
/// use agcore_testkit::conformance::Answer;
///
/// let answer = Answer::text("Hello").with_usage(Usage::new(7, 3));
/// assert_eq!(answer.finish, FinishReason::Stop);
/// assert_eq!(answer.response().text(), "Hello");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Answer {
    /// The text, reasoning, calls and refusal, in order.
    pub message: AssistantMessage,
    /// The finish reason.
    pub finish: FinishReason,
    /// The token usage that the server reports, or `None` for a server that reports none.
    pub usage: Option<Usage>,
    /// The way a streamed answer is split.
    pub slicing: Slicing,
}

/// A way to split a streamed answer into pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Slicing {
    /// At the discretion of the server.
    #[default]
    Usual,
    /// As awkwardly as possible: a few characters per piece, and multi-byte characters split in the middle.
    Odd,
}

impl Answer {
    /// Creates an answer without token usage. Its finish reason is [`FinishReason::ToolCalls`] if the message contains
    /// calls, and [`FinishReason::Stop`] otherwise.
    pub fn new(message: AssistantMessage) -> Self {
        let finish = if message.has_tool_calls() {
            FinishReason::ToolCalls
        } else {
            FinishReason::Stop
        };
        Self {
            message,
            finish,
            usage: None,
            slicing: Slicing::Usual,
        }
    }

    /// Creates an answer that consists of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(AssistantMessage::new(text))
    }

    /// Sets the finish reason.
    pub fn with_finish(mut self, finish: FinishReason) -> Self {
        self.finish = finish;
        self
    }

    /// Sets the token usage that the server reports.
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets how a streamed answer is split.
    pub fn with_slicing(mut self, slicing: Slicing) -> Self {
        self.slicing = slicing;
        self
    }

    /// Converts the answer into a response.
    pub fn response(&self) -> ChatResponse {
        let choice = Choice {
            message: self.message.clone(),
            finish_reason: Some(self.finish.clone()),
            ..Choice::default()
        };
        ChatResponse {
            choices: vec![choice],
            usage: self.usage.clone(),
            ..ChatResponse::default()
        }
    }
}
