//! [`TapeAnswers`]: the checks of the answers of typed turns, from a tape.

use std::sync::Arc;

use agcore_chat::SchemaViolation;
use agcore_cycle::{OutputMode, machine::Verdict, typed::RecordedAnswers};

use super::{Next, Tape};

/// Reports from a tape whether the answers of a typed turn fit. The schema is not part of a session.
pub(crate) struct TapeAnswers(pub(crate) Arc<Tape>);

impl RecordedAnswers for TapeAnswers {
    fn verdict(&self) -> Result<(), Vec<SchemaViolation>> {
        match self.0.verdict() {
            Next::Answer(Verdict::Rejected(violations)) => Err(violations),
            Next::Answer(_) => Ok(()),
            // The run is cancelled before its next step.
            Next::Stopped => Err(Vec::new()),
            Next::Different(problem) => Err(vec![SchemaViolation::new("$", problem)]),
        }
    }

    fn recast(&self) -> Option<OutputMode> {
        self.0.take_recast()
    }
}

impl Tape {
    /// Returns whether the next answer fits its type.
    fn verdict(&self) -> Next<Verdict> {
        let mut state = self.state();
        match state.recorded.verdicts.pop_front() {
            Some(verdict) => Next::Answer(verdict),
            None if state.recorded.stops => state.stop(),
            None => state.differs("the session checks an answer, whose check is not recorded".to_owned()),
        }
    }

    /// Takes the mode in which the model is asked after the provider has refused the last request.
    fn take_recast(&self) -> Option<OutputMode> {
        self.state().recast.take()
    }
}
