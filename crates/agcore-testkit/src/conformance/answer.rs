//! [`Answer`]: what a server shall say, free of any API's spelling.

use agcore_chat::{AssistantMessage, ChatResponse, Choice, FinishReason, Usage};

/// What a server shall say.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// Text, reasoning, calls and refusal, in order.
    pub message: AssistantMessage,
    /// Why the model stopped.
    pub finish: FinishReason,
    /// The tokens that the server tells; `None` is a server that tells none.
    pub usage: Option<Usage>,
    /// How a streamed answer is cut.
    pub slicing: Slicing,
}

/// How a streamed answer is cut into pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Slicing {
    /// As the server likes.
    #[default]
    Usual,
    /// As awkwardly as the server can: few characters in a piece, characters cut in their middle.
    Odd,
}

impl Answer {
    /// A message that ends by itself, with calls when it has some, without a word on tokens.
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

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(AssistantMessage::new(text))
    }

    /// Sets why the model stops.
    pub fn with_finish(mut self, finish: FinishReason) -> Self {
        self.finish = finish;
        self
    }

    /// Sets the tokens that the server tells.
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets how a streamed answer is cut.
    pub fn with_slicing(mut self, slicing: Slicing) -> Self {
        self.slicing = slicing;
        self
    }

    /// The answer as a whole response.
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
