//! [`TurnOutcome`]: how a turn ended that did not fail.

use std::borrow::Cow;

use agcore_chat::{ChatResponse, Question, Text, UsageTracker};
use serde_json::Value;

/// The end of a turn that did not fail.
///
/// ```
/// use agcore_chat::ChatResponse;
/// use agcore_cycle::{LlmCycle, TurnOutcome};
/// use agcore_llm::{SystemClock, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Good day.")) });
/// let outcome = LlmCycle::new(provider, SystemClock::new()).turn("Hello").await?;
/// match &outcome {
///     TurnOutcome::Finished(report) => println!("{} tool rounds", report.rounds),
///     TurnOutcome::Suspended(questions) => println!("{} questions for a person", questions.len()),
///     _ => println!("the turn continues elsewhere or later"),
/// }
/// assert_eq!(outcome.text(), "Good day.");
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TurnOutcome {
    /// The model answered.
    Finished(Box<TurnReport>),
    /// The turn waits for answers to these questions. Its state can be saved, and resumed here or elsewhere.
    Suspended(Vec<Question>),
    /// A tool handed the conversation over.
    Diverted {
        /// The id of the call that did so.
        call: Text,
        /// Data for the layer above.
        data: Value,
    },
    /// The turn paused because of its [flag](crate::PauseFlag). It stays open, and continues when it is resumed without answers.
    Paused,
}

/// The result of a finished turn.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TurnReport {
    /// The last reply, with everything the server sent.
    pub response: ChatResponse,
    /// Tokens and calls of the whole turn.
    pub usage: UsageTracker,
    /// The number of tool rounds.
    pub rounds: u32,
    /// The tokens that the requests of the turn did not contain, because the model saw [shorter results](crate::ResultView) of
    /// tools than the conversation contains. Of a turn that was suspended, only those since it was resumed.
    pub tokens_saved: u64,
}

impl TurnReport {
    pub(crate) fn new(response: ChatResponse, usage: UsageTracker, rounds: u32) -> Self {
        Self {
            response,
            usage,
            rounds,
            tokens_saved: 0,
        }
    }

    pub(crate) fn with_tokens_saved(mut self, tokens: u64) -> Self {
        self.tokens_saved = tokens;
        self
    }
}

impl TurnOutcome {
    /// Returns the text of the answer; empty if the turn is not finished.
    pub fn text(&self) -> Cow<'_, str> {
        self.report().map(|report| report.response.text()).unwrap_or_default()
    }

    /// Returns the report of a finished turn.
    pub fn report(&self) -> Option<&TurnReport> {
        match self {
            Self::Finished(report) => Some(report),
            Self::Suspended(_) | Self::Diverted { .. } | Self::Paused => None,
        }
    }

    /// Returns the open questions of a suspended turn.
    pub fn questions(&self) -> &[Question] {
        match self {
            Self::Suspended(questions) => questions,
            Self::Finished(_) | Self::Diverted { .. } | Self::Paused => &[],
        }
    }
}
