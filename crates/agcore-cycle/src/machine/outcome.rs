//! [`Outcome`]: what happened; also the record that a journal keeps.

use std::sync::Arc;

use agcore_chat::{Answer, FaultKind, Message, QuestionId, Text, ToolOutcome, UsageTracker};
use serde::{Deserialize, Serialize};

use super::{
    compact::{Compact, Summary},
    expectation::{Expectation, Verdict},
    reply::{Failure, Reply},
};
use crate::{
    budget::{BudgetLimit, Spent},
    typed::OutputMode,
};

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// The turn is stopped; a summary that was asked for by hand is given up alone.
    Stop(Cause),
    /// The conversation is made shorter like this.
    Compact(Compact),
    /// The summary that a compaction waits for.
    Summary(Summary),
    /// The answer of a typed turn was checked.
    Verdict(Verdict),
    /// The provider refuses to be asked for typed output like before; it is asked like this.
    Recast(OutputMode),
    /// A budget has too little left for what is to be done next.
    Limit {
        /// Which.
        limit: BudgetLimit,
        /// Attempts of the call under way that came to nothing, where there was one.
        #[serde(default)]
        lost: UsageTracker,
    },
    /// So much of the budgets was spent.
    Spent(Spent),
    /// So many events of the turn were told: those that follow, perhaps in another process, are counted on.
    Told(u64),
}

impl Outcome {
    /// A budget has too little left for what is to be done next.
    pub fn limit(limit: BudgetLimit) -> Self {
        Self::Limit {
            limit,
            lost: UsageTracker::default(),
        }
    }
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
    /// What the turn asks of its answer, when it is a typed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expectation: Option<Expectation>,
}

impl Begin {
    /// A turn that goes on with the history.
    pub fn new(messages: impl IntoIterator<Item = impl Into<Arc<Message>>>) -> Self {
        Self {
            messages: messages.into_iter().map(Into::into).collect(),
            replaces: false,
            expectation: None,
        }
    }

    /// A turn whose messages, together with the reply, become the history.
    pub fn replacing(messages: impl IntoIterator<Item = impl Into<Arc<Message>>>) -> Self {
        Self {
            replaces: true,
            ..Self::new(messages)
        }
    }

    /// Makes it a typed turn.
    pub fn with_expectation(mut self, expectation: Expectation) -> Self {
        self.expectation = Some(expectation);
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
