//! [`TurnOutcome`]: how a turn ended that did not fail.

use std::borrow::Cow;

use agcore_chat::{ChatResponse, Question, Text, UsageTracker};
use serde_json::Value;

/// How a turn ended that did not fail.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TurnOutcome {
    /// The model answered.
    Finished(Box<TurnReport>),
    /// The turn waits for these questions; the state can be saved and resumed, here or elsewhere.
    Suspended(Vec<Question>),
    /// A tool handed the conversation over.
    Diverted {
        /// The call that did.
        call: Text,
        /// What the layer above needs to know.
        data: Value,
    },
}

/// What a finished turn came to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TurnReport {
    /// The last reply, everything the wire had.
    pub response: ChatResponse,
    /// Tokens and calls of the whole turn.
    pub usage: UsageTracker,
    /// Rounds of tools that it took.
    pub rounds: u32,
}

impl TurnReport {
    pub(super) fn new(response: ChatResponse, usage: UsageTracker, rounds: u32) -> Self {
        Self {
            response,
            usage,
            rounds,
        }
    }
}

impl TurnOutcome {
    /// The answer's text; empty when the turn is not finished.
    pub fn text(&self) -> Cow<'_, str> {
        self.report().map(|report| report.response.text()).unwrap_or_default()
    }

    /// What the turn came to, when it is finished.
    pub fn report(&self) -> Option<&TurnReport> {
        match self {
            Self::Finished(report) => Some(report),
            Self::Suspended(_) | Self::Diverted { .. } => None,
        }
    }

    /// The questions that wait, when it is suspended.
    pub fn questions(&self) -> &[Question] {
        match self {
            Self::Suspended(questions) => questions,
            Self::Finished(_) | Self::Diverted { .. } => &[],
        }
    }
}
