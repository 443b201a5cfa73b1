//! [`Player`]: plays runs to a session, and compares what it does.

use std::{collections::VecDeque, sync::Arc};

use agcore_cycle::{Output, machine::Expectation};
use tokio_util::sync::CancellationToken;

use super::{
    error::{ReplayError, ReplayErrorKind},
    plan::{Run, RunEnd, Start},
};
use crate::{
    agent::Agent,
    bundle::RuntimeBundle,
    error::{AgentError, AgentErrorKind},
    session::AgentSession,
    tape::{RecordedCall, Tape, TapeAnswers, first_difference},
    turn::AgentTurn,
};

/// The extent of a replay that found no difference.
///
/// The numbers are those of the recording. A session that takes another course is a [`ReplayError`] instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReplayReport {
    /// The number of turns.
    pub turns: usize,
    /// The number of calls of the model that were answered: replies, summaries and failures.
    pub replies: usize,
    /// The number of results of tools. A question of a call counts as one.
    pub tool_results: usize,
}

pub(super) struct Player {
    session: AgentSession,
    tape: Arc<Tape>,
    report: ReplayReport,
}

impl Player {
    pub(super) fn new(bundle: &RuntimeBundle, session: &str, agent: Arc<dyn Agent>) -> Self {
        let tape = Arc::new(Tape::new(
            bundle.parts().short_results.as_ref().map(|short| short.session()),
        ));
        Self {
            session: bundle.with_tape(Arc::clone(&tape)).session(session, agent),
            tape,
            report: ReplayReport::default(),
        }
    }

    pub(super) fn report(&self) -> ReplayReport {
        self.report
    }

    /// Plays a run, and compares its end.
    pub(super) async fn play(&mut self, run: Run) -> Result<(), ReplayError> {
        let Run {
            start,
            expectation,
            turn,
            recorded,
            end,
        } = run;
        self.report.turns += usize::from(matches!(start, Start::Turn(_)));
        let is_refused = |call: &RecordedCall| matches!(call, RecordedCall::Recast(_) | RecordedCall::MediaRefused(_));
        let is_answered = |call: &&RecordedCall| !is_refused(call);
        self.report.replies += recorded.calls.iter().filter(is_answered).count();
        self.report.tool_results += recorded.results.values().map(VecDeque::len).sum::<usize>();
        let token = CancellationToken::new();
        let is_stopped = recorded.stops;
        self.tape.load(recorded, token.clone());
        let result = self.run(start, expectation, token).await;
        let different = |problem: String| ReplayError::new(ReplayErrorKind::Different, turn, problem);
        let failure = match result {
            Err(error) if is_setup(&error) => return Err(ReplayError::agent(turn, error)),
            result => result.err(),
        };
        if let Some(problem) = self.tape.difference() {
            return Err(different(problem));
        }
        if is_stopped {
            // How it was stopped is not repeated, so how it failed may differ.
            return self.compare(&end).await.map_err(different);
        }
        match (failure, end.is_failed) {
            (Some(error), false) => Err(different(format!("it fails now: {error}"))),
            (None, true) => Err(different("it failed, and succeeds now".to_owned())),
            _ => self.compare(&end).await.map_err(different),
        }
    }

    async fn run(
        &self,
        start: Start,
        expectation: Option<Expectation>,
        token: CancellationToken,
    ) -> Result<(), AgentError> {
        let turn: AgentTurn = match start {
            Start::Turn(begin) => self.session.turn(begin),
            Start::Answers(answers) => self.session.resume(answers),
            Start::Compaction => return self.session.compact().await.map(drop),
            Start::Messages(messages) => {
                return self
                    .session
                    .set_messages(messages)
                    .await
                    .map_err(AgentError::state_from);
            }
        };
        let turn = turn.with_token(token);
        let Some(expectation) = expectation else {
            return turn.await.map(drop);
        };
        let answers = TapeAnswers(Arc::clone(&self.tape));
        let output = Output::recorded(expectation.mode, expectation.max_repairs, answers);
        turn.typed_as(output).await.map(drop)
    }

    /// Compares the state after a run with the recorded one.
    async fn compare(&self, end: &RunEnd) -> Result<(), String> {
        if end.is_cut {
            return Ok(());
        }
        let is_open = self.session.is_suspended().await;
        match (end.is_open, is_open) {
            (true, false) => return Err("it waited for a person, and does not wait now".to_owned()),
            (false, true) => return Err("it waits for a person now".to_owned()),
            _ => {}
        }
        match first_difference(&end.history, &self.session.messages().await) {
            Some(problem) => Err(format!("at its end, {problem}")),
            None => Ok(()),
        }
    }
}

/// Returns whether an error is about the agent and its settings, and not about what happened.
fn is_setup(error: &AgentError) -> bool {
    error.kind() == AgentErrorKind::InvalidConfig
}
