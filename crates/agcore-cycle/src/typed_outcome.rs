//! [`TypedOutcome`]: how a turn ended whose answer is a value of a type.

use agcore_chat::{Question, Text};
use serde_json::Value;

use crate::{
    error::{CycleError, CycleErrorKind},
    outcome::TurnReport,
    typed::OutputMode,
};

/// A value that a model returned, with the report of its turn.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Typed<T> {
    /// The value.
    pub value: T,
    /// The report of the turn. Its response is the reply that contains the value.
    pub report: TurnReport,
    /// The mode in which the model was asked in the end.
    pub mode: OutputMode,
    /// How many times the model had to correct the value.
    pub repairs: u32,
}

/// The end of a typed turn that did not fail.
///
/// ```
/// # #[cfg(feature = "typed")]
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// use agcore_chat::ChatResponse;
/// use agcore_cycle::{LlmCycle, TypedOutcome};
/// use agcore_llm::{SystemClock, provider_fn};
///
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text(r#"{"value": ["Loire", "Rhône"]}"#)) });
/// let mut cycle = LlmCycle::new(provider, SystemClock::new());
/// match cycle.turn("Name two rivers in France.").typed::<Vec<String>>().await? {
///     TypedOutcome::Finished(typed) => assert_eq!((typed.value.len(), typed.repairs), (2, 0)),
///     _ => panic!("nothing in this turn waits for a person"),
/// }
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TypedOutcome<T> {
    /// The model returned a value.
    Finished(Box<Typed<T>>),
    /// The turn waits for answers to these questions. Resume it with the same type.
    Suspended(Vec<Question>),
    /// A tool handed the conversation over.
    Diverted {
        /// The id of the call that did so.
        call: Text,
        /// Data for the layer above.
        data: Value,
    },
    /// The turn paused because of its [flag](crate::PauseFlag). Resume it with the same type.
    Paused,
}

impl<T> TypedOutcome<T> {
    /// Returns the value of a finished turn.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Finished(typed) => Some(&typed.value),
            Self::Suspended(_) | Self::Diverted { .. } | Self::Paused => None,
        }
    }

    /// Returns the report of a finished turn.
    pub fn report(&self) -> Option<&TurnReport> {
        match self {
            Self::Finished(typed) => Some(&typed.report),
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

    /// Returns the value of a finished turn together with its report.
    ///
    /// # Errors
    /// `InvalidInput` if the turn is not finished: it waits for a person, or a tool handed the conversation over.
    pub fn finished(self) -> Result<Typed<T>, CycleError> {
        let message = match self {
            Self::Finished(typed) => return Ok(*typed),
            Self::Suspended(_) => "the turn waits for an answer; resume it with the same type",
            Self::Paused => "the turn is paused; resume it with the same type",
            Self::Diverted { .. } => "a tool handed the conversation over, so there is no value",
        };
        Err(CycleError::new(CycleErrorKind::InvalidInput, message))
    }

    /// Returns the value of a finished turn.
    ///
    /// # Errors
    /// As [`finished`](Self::finished).
    pub fn into_value(self) -> Result<T, CycleError> {
        self.finished().map(|typed| typed.value)
    }
}
