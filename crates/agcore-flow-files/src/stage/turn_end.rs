//! [`TurnEnd`]: how the turn of a stage ended, for texts and values alike.

use agcore_chat::{Question, UsageTracker};
use agcore_cycle::{TurnOutcome, TypedOutcome};

const DIVERTED: &str =
    "a tool handed the conversation over, which agents of flows cannot do; remove the tool from the agent";
const PAUSED: &str = "the turn was paused; resume the run";

/// The end of the turn of a stage.
pub(super) enum TurnEnd<T> {
    Finished { value: T, usage: Box<UsageTracker> },
    Suspended(Vec<Question>),
    Other(&'static str),
}

impl<T> From<TypedOutcome<T>> for TurnEnd<T> {
    fn from(outcome: TypedOutcome<T>) -> Self {
        match outcome {
            TypedOutcome::Finished(typed) => Self::Finished {
                value: typed.value,
                usage: Box::new(typed.report.usage),
            },
            TypedOutcome::Suspended(questions) => Self::Suspended(questions),
            TypedOutcome::Paused => Self::Other(PAUSED),
            _ => Self::Other(DIVERTED),
        }
    }
}

impl From<TurnOutcome> for TurnEnd<String> {
    fn from(outcome: TurnOutcome) -> Self {
        match outcome {
            TurnOutcome::Finished(report) => Self::Finished {
                value: report.response.text().into_owned(),
                usage: Box::new(report.usage),
            },
            TurnOutcome::Suspended(questions) => Self::Suspended(questions),
            TurnOutcome::Paused => Self::Other(PAUSED),
            _ => Self::Other(DIVERTED),
        }
    }
}
