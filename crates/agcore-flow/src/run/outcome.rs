//! [`FlowOutcome`]: how a run ended that did not fail.

use crate::{error::FlowError, interrupt::Interrupt, resume::SavedRun};

/// The end of a run that did not fail.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FlowOutcome<S> {
    /// The run has ended, with this state.
    Finished(S),
    /// The run waits for people.
    Suspended(Box<Suspension>),
}

/// A run that waits for people.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Suspension {
    /// The open questions.
    pub interrupts: Vec<Interrupt>,
    /// The run as data. With checkpoints, the store has the same.
    pub saved: SavedRun,
}

impl<S> FlowOutcome<S> {
    /// Returns the open questions of a suspended run.
    pub fn interrupts(&self) -> &[Interrupt] {
        match self {
            Self::Finished(_) => &[],
            Self::Suspended(suspension) => &suspension.interrupts,
        }
    }

    /// Returns the state of a run that has ended.
    pub fn state(&self) -> Option<&S> {
        match self {
            Self::Finished(state) => Some(state),
            Self::Suspended(_) => None,
        }
    }

    /// Returns the state of a run that has ended.
    ///
    /// # Errors
    /// `InvalidInput` if the run waits for people.
    pub fn into_state(self) -> Result<S, FlowError> {
        match self {
            Self::Finished(state) => Ok(state),
            Self::Suspended(_) => Err(FlowError::invalid_input(
                "the run waits for an answer; resume it with one",
            )),
        }
    }
}
