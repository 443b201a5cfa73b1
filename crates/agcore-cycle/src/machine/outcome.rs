//! [`Outcome`]: what happened in a step. Also the record that a journal keeps.

pub(super) mod compact;
pub(super) mod expectation;
pub(super) mod limits;
pub(super) mod lost;
pub(super) mod media_refusal;
pub(super) mod reply;

use std::sync::Arc;

use agcore_chat::{Answer, FaultKind, Message, ModelCall, QuestionId, Text, ToolOutcome, UsageTracker};
use serde::{Deserialize, Serialize};

use super::outcome::{
    compact::{Compact, Summary},
    expectation::{Expectation, Verdict},
    limits::Limits,
    lost::Lost,
    media_refusal::MediaRefusal,
    reply::{Failure, Reply},
};
use crate::{
    budget::{BudgetLimit, Spent},
    typed::OutputMode,
};

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// A turn starts.
    #[serde(rename = "begun")]
    TurnStarted(Begin),
    /// The model replied.
    Reply(Reply),
    /// The call of the model failed permanently.
    Failed(Failure),
    /// These calls are about to run: a whole batch in one record.
    Started(Vec<Text>),
    /// A call ended: one that ran, or one that its executor did not let run.
    Tool {
        /// The call's id.
        call: Text,
        /// How it ended.
        outcome: ToolOutcome,
        /// The duration of the call, in microseconds.
        duration_us: u64,
        /// The input with which it ran, if that is not the one of the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Text>,
    },
    /// A question was answered.
    Answer(QuestionId, Answer),
    /// A call whose outcome is unknown runs again.
    Redo(Text),
    /// The turn is stopped. If a requested summary is pending, only that is abandoned.
    Stop(Cause),
    /// The conversation is compacted according to this plan.
    Compact(Compact),
    /// A server refused media of the conversation; notes take their place.
    MediaRefused(Box<MediaRefusal>),
    /// The summary that a compaction waits for.
    Summary(Summary),
    /// The answer of a typed turn was checked.
    Verdict(Verdict),
    /// The provider refuses the current way of asking for typed output; use this one.
    Recast(OutputMode),
    /// A budget has too little left for the next step.
    Limit {
        /// The budget.
        limit: BudgetLimit,
        /// Failed attempts of the call in flight, if there was one.
        #[serde(default)]
        lost: Lost,
        /// The reason for the user, if the budget is kept elsewhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Calls of the model were given up after they had been sent: their future was dropped, or they were cancelled.
    Lost(Box<UsageTracker>),
    /// This much of the budgets was spent.
    Spent(Spent),
    /// A call of the model ended. The state does not change; a recorder computes costs from it. Only recorders that
    /// [ask for calls](crate::OutcomeRecorder::records_calls) receive it.
    Called(Box<ModelCall>),
    /// This many events of the turn were sent. Later ones, perhaps in another process, continue the numbering.
    #[serde(rename = "told")]
    EventsSent(u64),
    /// These limits apply from now on.
    Limits(Limits),
}

impl Outcome {
    /// Creates the outcome for a budget that has too little left for the next step.
    pub fn limit(limit: BudgetLimit) -> Self {
        Self::Limit {
            limit,
            lost: Lost::default(),
            reason: None,
        }
    }

    /// Creates the outcome of a call that ended this way, at once and with the input of the model.
    pub fn tool(call: impl Into<Text>, outcome: ToolOutcome) -> Self {
        Self::Tool {
            call: call.into(),
            outcome,
            duration_us: 0,
            input: None,
        }
    }

    /// Returns whether this is a decision about the next step, rather than an event that has happened: if it cannot be
    /// recorded, it does not take place.
    pub(crate) fn is_decision(&self) -> bool {
        match self {
            Self::TurnStarted(_)
            | Self::Started(_)
            | Self::Answer(..)
            | Self::Redo(_)
            | Self::Stop(_)
            | Self::Compact(_)
            | Self::Recast(_)
            | Self::Limit { .. }
            | Self::Limits(_) => true,
            Self::Reply(_)
            | Self::MediaRefused(_)
            | Self::Failed(_)
            | Self::Lost(_)
            | Self::Tool { .. }
            | Self::Summary(_)
            | Self::Verdict(_)
            | Self::Spent(_)
            | Self::Called(_)
            | Self::EventsSent(_) => false,
        }
    }
}

/// The start of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Begin {
    /// The messages that the turn adds.
    pub messages: Vec<Arc<Message>>,
    /// Whether the messages replace the history.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces: bool,
    /// The requirements for the answer of a typed turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expectation: Option<Expectation>,
}

impl Begin {
    /// Creates a turn that appends these messages to the history.
    pub fn new(messages: impl IntoIterator<Item = impl Into<Arc<Message>>>) -> Self {
        Self {
            messages: messages.into_iter().map(Into::into).collect(),
            replaces: false,
            expectation: None,
        }
    }

    /// Creates a turn whose messages replace the history.
    pub fn replacing(messages: impl IntoIterator<Item = impl Into<Arc<Message>>>) -> Self {
        Self {
            replaces: true,
            ..Self::new(messages)
        }
    }

    /// Makes this a typed turn.
    #[must_use]
    pub fn with_expectation(mut self, expectation: Expectation) -> Self {
        self.expectation = Some(expectation);
        self
    }
}

/// The reason a turn is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cause {
    /// The kind of the cause.
    pub kind: FaultKind,
    /// The message for people.
    pub message: String,
}

impl Cause {
    /// Creates a cause.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Creates the cause for a turn that the caller cancelled.
    pub fn cancelled() -> Self {
        Self::new(FaultKind::Cancelled, "the turn was cancelled")
    }

    /// Creates the cause for an open turn that another one replaces.
    pub fn abandoned() -> Self {
        Self::new(FaultKind::Cancelled, "the turn was abandoned before it ended")
    }

    /// Creates the cause for a turn that a hook blocked.
    pub fn hook_blocked(message: impl Into<String>) -> Self {
        Self::new(FaultKind::HookBlocked, message)
    }
}
