//! [`Outcome`]: what happened; also the record that a journal keeps.

use std::sync::Arc;

use agcore_chat::{
    Answer, AssistantMessage, EventKind, Fault, FaultKind, FinishReason, Message, QuestionId, SequenceError, Text,
    ToolOutcome, Usage, UsageTracker,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "an outcome lives for one call; replies are not worth a box"
)]
#[non_exhaustive]
pub enum Outcome {
    /// A turn begins.
    Begun(Begin),
    /// The model replied.
    Reply(Reply),
    /// The model could not be asked, for good.
    Failed(Failure),
    /// These calls are about to run; a whole batch in one record.
    Started(Vec<Text>),
    /// A call ended.
    Tool {
        /// The call's id.
        call: Text,
        /// How it ended.
        outcome: ToolOutcome,
        /// How long it ran, in microseconds.
        duration_us: u64,
    },
    /// A question was answered.
    Answer(QuestionId, Answer),
    /// A call whose fate is not known runs again.
    Redo(Text),
    /// The turn is stopped.
    Stop(Cause),
}

/// The beginning of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Begin {
    /// What the turn adds.
    pub messages: Vec<Arc<Message>>,
    /// Whether the messages are the whole conversation, in place of the history.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces: bool,
}

impl Begin {
    /// A turn that goes on with the history.
    pub fn new(messages: impl IntoIterator<Item = impl Into<Arc<Message>>>) -> Self {
        Self {
            messages: messages.into_iter().map(Into::into).collect(),
            replaces: false,
        }
    }

    /// A turn whose messages, together with the reply, become the history.
    pub fn replacing(messages: impl IntoIterator<Item = impl Into<Arc<Message>>>) -> Self {
        Self {
            replaces: true,
            ..Self::new(messages)
        }
    }
}

/// A reply of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reply {
    /// What it said.
    pub message: AssistantMessage,
    /// Why it stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// Tokens used, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Attempts that came to nothing before.
    #[serde(default)]
    pub lost: UsageTracker,
}

impl Reply {
    /// A reply of which nothing more is known.
    pub fn new(message: AssistantMessage) -> Self {
        Self {
            message,
            finish: None,
            usage: None,
            lost: UsageTracker::default(),
        }
    }

    /// Adds why the model stopped.
    pub fn with_finish(mut self, finish: Option<FinishReason>) -> Self {
        self.finish = finish;
        self
    }

    /// Adds the tokens used.
    pub fn with_usage(mut self, usage: Option<Usage>) -> Self {
        self.usage = usage;
        self
    }

    /// Adds attempts that came to nothing.
    pub fn with_lost(mut self, lost: UsageTracker) -> Self {
        self.lost = lost;
        self
    }
}

/// A call of the model that came to nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// Why.
    pub fault: Fault,
    /// Attempts that returned a part of an answer.
    #[serde(default)]
    pub lost: UsageTracker,
}

impl Failure {
    /// A failure that cost nothing.
    pub fn new(fault: Fault) -> Self {
        Self {
            fault,
            lost: UsageTracker::default(),
        }
    }

    /// Adds attempts that returned a part of an answer.
    pub fn with_lost(mut self, lost: UsageTracker) -> Self {
        self.lost = lost;
        self
    }
}

/// Why a turn is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cause {
    /// What kind of cause.
    pub kind: FaultKind,
    /// For people.
    pub message: String,
}

impl Cause {
    /// A cause in words.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// The caller cancelled.
    pub fn cancelled() -> Self {
        Self::new(FaultKind::Cancelled, "the turn was cancelled")
    }

    /// The turn was left open and another begins.
    pub fn abandoned() -> Self {
        Self::new(FaultKind::Cancelled, "the turn was abandoned before it ended")
    }

    /// A hook said no.
    pub fn hook_blocked(message: impl Into<String>) -> Self {
        Self::new(FaultKind::HookBlocked, message)
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum End {
    /// The model answered.
    Answered,
    /// A tool handed the conversation over.
    Diverted {
        /// The call that did.
        call: Text,
        /// What the layer above needs to know.
        data: Value,
    },
    /// It failed.
    Failed(Fault),
    /// It was stopped.
    Stopped(Cause),
    /// It reached a limit.
    Limit(LimitKind),
}

/// Which limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// Rounds of tools.
    ToolTurns,
}

impl LimitKind {
    /// The limit's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolTurns => "max_tool_turns",
        }
    }

    /// What happened and what to do.
    pub const fn message(self) -> &'static str {
        match self {
            Self::ToolTurns => {
                "the model still asks for tools after the last round that max_tool_turns allows; raise it, or let the \
                 model wrap up"
            }
        }
    }
}

/// What an outcome changed.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Changes {
    /// Whether the history was emptied before messages were appended.
    pub replaced: bool,
    /// How many messages were appended to the history.
    pub appended: usize,
    /// What to tell observers, in order.
    pub events: Vec<EventKind>,
}

impl Changes {
    pub(super) fn tell(&mut self, event: impl Into<EventKind>) {
        self.events.push(event.into());
    }
}

/// An outcome that nothing waits for. The state stays as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// A turn is open.
    #[error("a turn is open; end or stop it first")]
    TurnOpen,
    /// No turn is open.
    #[error("no turn is open; begin one first")]
    NoTurn,
    /// The messages may not be sent.
    #[error("the messages may not be sent: {0}")]
    InvalidMessages(#[source] SequenceError),
    /// There is nothing for the model to answer.
    #[error("there is nothing to answer: the last message must be of the user, a tool or the application")]
    NothingToAnswer,
    /// Something else is waited for.
    #[error("nothing waits for {0}")]
    NotWaitingFor(&'static str),
    /// No open question has this id.
    #[error("no open question has the id `{0}`")]
    UnknownQuestion(QuestionId),
    /// The question was answered before.
    #[error("the question `{0}` is answered already")]
    AlreadyAnswered(QuestionId),
    /// A question of another call, or one whose id was used before.
    #[error("the question `{0}` is not a new one of this call")]
    BadQuestion(QuestionId),
}
