//! [`Run`]: the parts of a session that are replayed one after the other.

use std::sync::Arc;

use agcore_chat::{Answer, Message, QuestionId};
use agcore_cycle::machine::{Begin, Expectation, Machine, Outcome, Step};

use super::error::{ReplayError, ReplayErrorKind};
use super::trajectory::{PlayedStep, Trajectory};
use crate::tape::{Recorded, RecordedCall};

/// The start of a run.
#[derive(Debug)]
pub(super) enum Start {
    /// A turn.
    Turn(Begin),
    /// Answers to questions, with which a suspended turn continues.
    Answers(Vec<(QuestionId, Answer)>),
    /// A compaction between turns.
    Compaction,
    /// The conversation was replaced.
    Messages(Vec<Arc<Message>>),
}

/// A run of a session, from its start until it ends or waits for a person.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) start: Start,
    /// The answer that a typed turn expects.
    pub(super) expectation: Option<Expectation>,
    /// The number of the turn, from 1.
    pub(super) turn: usize,
    pub(super) recorded: Recorded,
    pub(super) end: RunEnd,
}

/// The state at the end of a run.
#[derive(Debug, Default)]
pub(super) struct RunEnd {
    pub(super) history: Vec<Arc<Message>>,
    /// Whether the turn waits for a person.
    pub(super) is_open: bool,
    /// Whether the turn failed.
    pub(super) is_failed: bool,
    /// Whether the recording ends in the middle of the turn.
    pub(super) is_cut: bool,
}

/// Divides a session into its runs.
pub(super) fn runs_of(trajectory: &Trajectory) -> Result<Vec<Run>, ReplayError> {
    let mut runs = Runs::default();
    let played = trajectory.play(|step| match step {
        PlayedStep::State(before, state) => runs.state(before, state),
        PlayedStep::Outcome(machine, outcome) => runs.outcome(machine, outcome),
    });
    let turn = runs.turn;
    let unsupported = |problem: String| ReplayError::new(ReplayErrorKind::Unsupported, turn, problem);
    match (played, runs.problem.take()) {
        (_, Some(problem)) => Err(problem),
        (Err(error), None) => Err(unsupported(error.to_string())),
        (Ok(end), None) => {
            runs.finish(&end);
            Ok(runs.done)
        }
    }
}

#[derive(Default)]
struct Runs {
    done: Vec<Run>,
    current: Option<Run>,
    turn: usize,
    problem: Option<ReplayError>,
}

impl Runs {
    /// Handles a conversation that was replaced from outside.
    fn state(&mut self, before: &Machine, state: &Machine) {
        self.finish(before);
        if state.is_open() {
            self.unsupported("its state was replaced in the middle of a turn");
        } else if before.history() != state.history() {
            self.start(Start::Messages(state.history().to_vec()), None);
            self.finish(state);
        }
    }

    /// Handles an outcome. The machine has the state before it.
    fn outcome(&mut self, machine: &Machine, outcome: &Outcome) {
        match outcome {
            Outcome::TurnStarted(begin) => {
                self.finish(machine);
                self.turn += 1;
                let mut begin = begin.clone();
                let expectation = begin.expectation.take();
                self.start(Start::Turn(begin), expectation);
            }
            Outcome::Answer(question, answer) => {
                let waits = matches!(machine.next(), Step::Wait(_));
                if waits && !self.is_answering() {
                    self.finish(machine);
                    self.start(Start::Answers(Vec::new()), machine.expectation().cloned());
                }
                if let Some(Run {
                    start: Start::Answers(answers),
                    ..
                }) = &mut self.current
                {
                    answers.push((question.clone(), answer.clone()));
                } else {
                    self.unsupported("its process died while a tool ran, and a person decided what became of the call");
                }
            }
            Outcome::Compact(_) if !machine.is_open() => {
                self.finish(machine);
                self.start(Start::Compaction, None);
            }
            // The next turn stops one that waits for a person, in a replay as well.
            Outcome::Stop(_) if matches!(machine.next(), Step::Wait(_)) => self.finish(machine),
            _ => self.record(machine, outcome),
        }
    }

    fn record(&mut self, machine: &Machine, outcome: &Outcome) {
        let Some(Run { recorded, .. }) = &mut self.current else {
            return;
        };
        match outcome {
            Outcome::Reply(reply) => recorded.calls.push_back(RecordedCall::Reply {
                seen: machine.view().messages(),
                reply: reply.clone(),
            }),
            Outcome::Summary(summary) => recorded.calls.push_back(RecordedCall::Summary(summary.reply.clone())),
            Outcome::Failed(failure) => recorded.calls.push_back(RecordedCall::Failure(failure.clone())),
            Outcome::Tool { call, outcome, .. } => {
                recorded
                    .results
                    .entry(call.clone())
                    .or_default()
                    .push_back(outcome.clone());
            }
            Outcome::Verdict(verdict) => recorded.verdicts.push_back(verdict.clone()),
            Outcome::MediaRefused(refusal) => recorded.calls.push_back(RecordedCall::MediaRefused(refusal.clone())),
            Outcome::Recast(mode) => recorded.calls.push_back(RecordedCall::Recast(*mode)),
            Outcome::Stop(_) => recorded.stops = true,
            _ => {}
        }
    }

    /// Returns whether the current run begins with answers, and nothing happened after them.
    fn is_answering(&self) -> bool {
        self.current.as_ref().is_some_and(|run| {
            matches!(run.start, Start::Answers(_)) && run.recorded.calls.is_empty() && run.recorded.results.is_empty()
        })
    }

    fn start(&mut self, start: Start, expectation: Option<Expectation>) {
        self.current = Some(Run {
            start,
            expectation,
            turn: self.turn,
            recorded: Recorded::default(),
            end: RunEnd::default(),
        });
    }

    /// Ends the current run with this state.
    fn finish(&mut self, machine: &Machine) {
        let Some(mut run) = self.current.take() else { return };
        let waits = matches!(machine.next(), Step::Wait(_));
        let is_cut = machine.is_open() && !waits;
        run.recorded.stops |= is_cut;
        // Between turns, the machine keeps how the last one ended.
        let is_turn = matches!(run.start, Start::Turn(_) | Start::Answers(_));
        run.end = RunEnd {
            history: machine.history().to_vec(),
            is_open: machine.is_open(),
            is_failed: is_turn && matches!(machine.next(), Step::End(end) if end.fault().is_some()),
            is_cut,
        };
        self.done.push(run);
    }

    fn unsupported(&mut self, problem: &str) {
        let error = ReplayError::new(ReplayErrorKind::Unsupported, self.turn, problem);
        self.problem.get_or_insert(error);
    }
}
