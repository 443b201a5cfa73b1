//! [`ScriptStep`]: one step of a script.

use std::{collections::VecDeque, fmt, time::Duration};

use agcore_chat::{AssistantMessage, ChatRequest, ChatResponse, Choice, FinishReason, ToolCall, Usage};
use agcore_llm::{Call, LlmError, Notice, ReplyDelta, ReplyItem, wire::deltas_from_response};

use super::playback::Action;

/// One step of a script: the reply to one call, optionally delayed or ended by an error.
///
/// ```
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{LlmError, LlmErrorKind, LlmProviderExt};
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let provider = ScriptedProvider::new([
///     ScriptStep::from_fn(|request| ChatResponse::from_text(request.messages[0].text().to_uppercase())),
///     ScriptStep::text("One two").then_error(LlmError::new(LlmErrorKind::Truncated, "the connection closed")),
/// ]);
/// let request = || ChatRequest::new([Message::user("Hello")]);
/// assert_eq!(provider.chat(request()).await.unwrap().text(), "HELLO");
/// let error = provider.chat(request()).await.unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::Truncated);
/// assert_eq!(error.partial().unwrap().text(), "One two");
/// # });
/// ```
#[must_use]
pub struct ScriptStep {
    content: Content,
    delay: Duration,
    pace: Duration,
    ending: Ending,
    notices: Vec<Notice>,
}

enum Content {
    Empty,
    Response(Box<ChatResponse>),
    FromRequest(Box<dyn FnOnce(&ChatRequest) -> ChatResponse + Send>),
}

enum Ending {
    Complete,
    Error(LlmError),
    /// The stream stops without an end.
    Cut,
    Hang,
}

impl ScriptStep {
    fn new(content: Content, ending: Ending) -> Self {
        Self {
            content,
            delay: Duration::ZERO,
            pace: Duration::ZERO,
            ending,
            notices: Vec::new(),
        }
    }

    /// Creates a step that replies with a complete response.
    pub fn response(response: ChatResponse) -> Self {
        Self::new(Content::Response(Box::new(response)), Ending::Complete)
    }

    /// Creates a step that replies with a message and a finish reason. It reports 10 prompt tokens and 5 generated
    /// tokens.
    pub fn message(message: AssistantMessage, finish: FinishReason) -> Self {
        let choice = Choice {
            message,
            finish_reason: Some(finish),
            ..Choice::default()
        };
        let usage = Some(Usage::new(10, 5));
        Self::response(ChatResponse {
            choices: vec![choice],
            usage,
            ..ChatResponse::default()
        })
    }

    /// Creates a step that replies with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::message(AssistantMessage::new(text), FinishReason::Stop)
    }

    /// Creates a step that replies with tool calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let message = AssistantMessage::from_blocks(calls.into_iter().map(Into::into));
        Self::message(message, FinishReason::ToolCalls)
    }

    /// Creates a step that computes its response from the request.
    pub fn from_fn(respond: impl FnOnce(&ChatRequest) -> ChatResponse + Send + 'static) -> Self {
        Self::new(Content::FromRequest(Box::new(respond)), Ending::Complete)
    }

    /// Creates a step that fails before any content.
    pub fn error(error: LlmError) -> Self {
        Self::new(Content::Empty, Ending::Error(error))
    }

    /// Creates a step that sends nothing until the call is cancelled.
    pub fn hang() -> Self {
        Self::new(Content::Empty, Ending::Hang)
    }

    /// Fails with this error after the content.
    pub fn then_error(mut self, error: LlmError) -> Self {
        self.ending = Ending::Error(error);
        self
    }

    /// Stops the stream after the content without an end, which violates the contract of a provider.
    pub fn then_cut(mut self) -> Self {
        self.ending = Ending::Cut;
        self
    }

    /// Sends nothing after the content until the call is cancelled.
    pub fn then_hang(mut self) -> Self {
        self.ending = Ending::Hang;
        self
    }

    /// Sets the time to wait before the first item, measured on the provider's clock.
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sets the time to wait before each delta, measured on the provider's clock.
    pub fn with_pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Adds a notice to send before the content.
    pub fn with_notice(mut self, notice: Notice) -> Self {
        self.notices.push(notice);
        self
    }

    /// Converts the step into the actions that reply to a call.
    pub(super) fn actions(self, call: &Call) -> VecDeque<Action> {
        let mut actions = VecDeque::new();
        let wait = |wait: Duration| (!wait.is_zero()).then_some(Action::Wait(wait));
        actions.extend(wait(self.delay));
        actions.extend(
            self.notices
                .into_iter()
                .map(|notice| Action::Item(ReplyItem::Notice(notice))),
        );
        let response = match self.content {
            Content::Empty => None,
            Content::Response(response) => Some(*response),
            Content::FromRequest(respond) => Some(respond(&call.request)),
        };
        let is_complete = matches!(self.ending, Ending::Complete);
        for delta in response.map(deltas_from_response).into_iter().flatten() {
            // An incomplete reply has neither a finish reason nor usage.
            if !is_complete && matches!(delta, ReplyDelta::Finish { .. } | ReplyDelta::Usage(_)) {
                continue;
            }
            for delta in split_words(delta, call.stream) {
                actions.extend(wait(self.pace));
                actions.push_back(Action::Item(ReplyItem::Delta(delta)));
            }
        }
        match self.ending {
            Ending::Complete => actions.push_back(Action::Item(ReplyItem::End(Ok(())))),
            Ending::Error(error) => actions.push_back(Action::Item(ReplyItem::End(Err(error)))),
            Ending::Hang => actions.push_back(Action::Hang),
            Ending::Cut => {}
        }
        actions
    }
}

/// Splits streamed text into one delta per word.
fn split_words(delta: ReplyDelta, stream: bool) -> Vec<ReplyDelta> {
    match delta {
        ReplyDelta::Text { choice, text } if stream => {
            let words = text.split_inclusive(' ');
            words
                .map(|word| ReplyDelta::Text {
                    choice,
                    text: word.into(),
                })
                .collect()
        }
        other => vec![other],
    }
}

impl fmt::Debug for ScriptStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptStep")
            .field("delay", &self.delay)
            .finish_non_exhaustive()
    }
}
