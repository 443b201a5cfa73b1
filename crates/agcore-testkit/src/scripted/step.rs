//! [`ScriptStep`]: one answer of a script.

use std::{collections::VecDeque, fmt, time::Duration};

use agcore_chat::{AssistantMessage, ChatRequest, ChatResponse, Choice, FinishReason, ToolCall, Usage};
use agcore_llm::{
    Call, LlmError,
    delta::{ReplyDelta, deltas_of},
    reply::{Notice, ReplyItem},
};

/// One answer of a script: a reply, perhaps cut by an error, perhaps late.
pub struct ScriptStep {
    reply: Source,
    delay: Duration,
    pace: Duration,
    end: End,
    notices: Vec<Notice>,
}

enum Source {
    None,
    Fixed(Box<ChatResponse>),
    Made(Box<dyn FnOnce(&ChatRequest) -> ChatResponse + Send>),
}

enum End {
    Whole,
    Failed(LlmError),
    Cut,
    Hang,
}

/// What the provider does next.
#[derive(Debug)]
pub(super) enum Action {
    Item(ReplyItem),
    Wait(Duration),
    /// Nothing more comes; only a cancel ends it.
    Hang,
}

impl ScriptStep {
    fn of(reply: Source, end: End) -> Self {
        Self {
            reply,
            delay: Duration::ZERO,
            pace: Duration::ZERO,
            end,
            notices: Vec::new(),
        }
    }

    /// A whole response.
    pub fn response(response: ChatResponse) -> Self {
        Self::of(Source::Fixed(Box::new(response)), End::Whole)
    }

    /// A message with this finish reason, and usage of 10 prompt and 5 generated tokens.
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

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::message(AssistantMessage::new(text), FinishReason::Stop)
    }

    /// Tool calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let message = AssistantMessage::from_blocks(calls.into_iter().map(Into::into));
        Self::message(message, FinishReason::ToolCalls)
    }

    /// A response computed from the request.
    pub fn made(make: impl FnOnce(&ChatRequest) -> ChatResponse + Send + 'static) -> Self {
        Self::of(Source::Made(Box::new(make)), End::Whole)
    }

    /// A failure before anything of an answer.
    pub fn error(error: LlmError) -> Self {
        Self::of(Source::None, End::Failed(error))
    }

    /// Nothing at all: only a cancel ends the call.
    pub fn hang() -> Self {
        Self::of(Source::None, End::Hang)
    }

    /// Fails after the reply's content instead of ending well.
    pub fn then_error(mut self, error: LlmError) -> Self {
        self.end = End::Failed(error);
        self
    }

    /// Stops after the reply's content without any end, as a broken provider would.
    pub fn then_cut(mut self) -> Self {
        self.end = End::Cut;
        self
    }

    /// Sends the reply's content and then nothing more.
    pub fn then_hang(mut self) -> Self {
        self.end = End::Hang;
        self
    }

    /// Waits before the first item.
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Waits before each delta.
    pub fn with_pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Sends a notice before the reply.
    pub fn with_notice(mut self, notice: Notice) -> Self {
        self.notices.push(notice);
        self
    }

    pub(super) fn actions(self, call: &Call) -> VecDeque<Action> {
        let mut actions = VecDeque::new();
        let wait = |wait: Duration| (!wait.is_zero()).then_some(Action::Wait(wait));
        actions.extend(wait(self.delay));
        actions.extend(
            self.notices
                .into_iter()
                .map(|notice| Action::Item(ReplyItem::Notice(notice))),
        );
        let response = match self.reply {
            Source::None => None,
            Source::Fixed(response) => Some(*response),
            Source::Made(make) => Some(make(&call.request)),
        };
        let whole = matches!(self.end, End::Whole);
        for delta in response.map(deltas_of).into_iter().flatten() {
            // A reply that does not end well has neither a finish reason nor usage.
            if !whole && matches!(delta, ReplyDelta::Finish { .. } | ReplyDelta::Usage(_)) {
                continue;
            }
            for delta in pieces(delta, call.stream) {
                actions.extend(wait(self.pace));
                actions.push_back(Action::Item(ReplyItem::Delta(delta)));
            }
        }
        match self.end {
            End::Whole => actions.push_back(Action::Item(ReplyItem::End(Ok(())))),
            End::Failed(error) => actions.push_back(Action::Item(ReplyItem::End(Err(error)))),
            End::Hang => actions.push_back(Action::Hang),
            End::Cut => {}
        }
        actions
    }
}

/// Streamed text comes word by word.
fn pieces(delta: ReplyDelta, stream: bool) -> Vec<ReplyDelta> {
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
