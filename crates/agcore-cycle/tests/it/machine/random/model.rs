//! [`Model`]: the expected behavior of the machine, independent of the machine's code.

mod agreement;

pub(super) use self::agreement::contains_result;

use std::collections::HashSet;

use agcore_chat::{Answer, AssistantMessage, CallInput, FinishReason, Question, QuestionKind, ToolCall, ToolResult};
use agcore_cycle::{
    OutputMode,
    machine::{CompactReason, Expectation, Limits, Purpose, RoundLimit},
};
use serde_json::Value;

/// The phase of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Calling(Purpose),
    /// A text is being checked.
    Checking,
    Acting,
    Ended(&'static str),
}

/// The expected result of a call.
#[derive(Debug, Clone)]
pub(super) enum Settled {
    /// The result of the tool.
    As(ToolResult),
    /// An error whose text contains this.
    Failed(&'static str),
    /// The answer of a typed turn.
    Accepted,
}

#[derive(Debug, Clone)]
pub(super) enum State {
    Ready,
    Running,
    Asking(Box<Question>),
    /// Its arguments are being checked.
    Checking,
    Settled(Settled),
}

#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) state: State,
    pub(super) resumed: Option<(Question, Answer)>,
    /// Whether it was interrupted while running.
    pub(super) interrupted: bool,
}

impl Call {
    /// Settles a call without a result. The text must not claim more than is known.
    fn give_up(&mut self) {
        if !matches!(self.state, State::Settled(_)) {
            let unknown = self.interrupted || matches!(self.state, State::Running);
            self.state = State::Settled(Settled::Failed(if unknown { "is unknown" } else { "was not run" }));
        }
    }
}

/// Whether the model rejected the call in flight because the conversation is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overflow {
    None,
    Due,
    Retried,
}

#[derive(Debug)]
pub(super) struct Model {
    pub(super) limits: Limits,
    pub(super) phase: Phase,
    pub(super) calls: Vec<Call>,
    pub(super) rounds: u32,
    pub(super) diverted: bool,
    /// The questions of this turn that were answered.
    pub(super) answered: Vec<Question>,
    /// The calls of the conversation that have a result. None of them may run again.
    pub(super) settled: HashSet<String>,
    /// The reason for the summary that the machine waits for, and whether tool results are removed if it fails.
    pub(super) summing: Option<(CompactReason, bool)>,
    pub(super) overflow: Overflow,
    /// Whether a budget is exhausted and the model is asked to wrap up.
    pub(super) wraps_up: bool,
    /// How the turn ends after this round, because a budget for tools is exhausted.
    closing: Option<&'static str>,
    /// The expectation of a typed turn, and how many times its answer was sent back.
    pub(super) typed: Option<(Expectation, u32)>,
    /// Whether the answer that is being checked was truncated.
    is_cut: bool,
    /// Whether the server paused the last reply.
    pub(super) is_paused: bool,
}

impl Model {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            phase: Phase::Idle,
            calls: Vec::new(),
            rounds: 0,
            diverted: false,
            answered: Vec::new(),
            settled: HashSet::new(),
            summing: None,
            overflow: Overflow::None,
            wraps_up: false,
            closing: None,
            typed: None,
            is_cut: false,
            is_paused: false,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Calling(_) | Phase::Checking | Phase::Acting)
    }

    pub(super) fn begin(&mut self, expectation: Option<Expectation>) {
        self.typed = expectation.map(|expectation| (expectation, 0));
        (self.wraps_up, self.closing) = (false, None);
        self.phase = Phase::Calling(self.next_purpose(0));
        (self.rounds, self.diverted) = (0, false);
        self.is_paused = false;
        (self.summing, self.overflow) = (None, Overflow::None);
        self.answered.clear();
    }

    fn next_purpose(&self, rounds: u32) -> Purpose {
        let over = rounds >= self.limits.max_tool_turns && self.limits.at_round_limit == RoundLimit::WrapUp;
        if over || self.wraps_up {
            Purpose::WrapUp
        } else {
            Purpose::Reply
        }
    }

    /// Applies an accepted reply with its final ids.
    pub(super) fn reply(&mut self, message: &AssistantMessage, finish: Option<&FinishReason>) {
        let Phase::Calling(purpose) = self.phase else {
            panic!("no reply was expected")
        };
        self.overflow = Overflow::None;
        let limit = purpose == Purpose::WrapUp
            || (self.rounds >= self.limits.max_tool_turns && self.limits.at_round_limit == RoundLimit::Fail);
        let truncated = matches!(finish, Some(FinishReason::Length | FinishReason::ContentFilter));
        let answering = self.answering_tool();
        let answers = message.tool_calls().any(|call| Some(&call.name) == answering.as_ref());
        let filtered = matches!(finish, Some(FinishReason::ContentFilter));
        self.is_cut = matches!(finish, Some(FinishReason::Length));
        let mut is_first = true;
        let mut state = |call: &ToolCall| {
            if Some(&call.name) == answering.as_ref() && !filtered {
                if std::mem::take(&mut is_first) {
                    State::Checking
                } else {
                    State::Settled(Settled::Failed("one answer only"))
                }
            } else if limit || truncated {
                State::Settled(Settled::Failed("was not run"))
            } else if can_run(call) {
                State::Ready
            } else {
                State::Settled(Settled::Failed("the arguments of look are"))
            }
        };
        self.calls = message
            .tool_calls()
            .map(|call| Call {
                id: call.id.clone(),
                state: state(call),
                resumed: None,
                interrupted: false,
            })
            .collect();
        self.is_paused = self.calls.is_empty() && finish.is_some_and(FinishReason::is_paused);
        if self.is_paused {
            if limit {
                self.end("limit");
            } else {
                self.rounds += 1;
                self.phase = Phase::Calling(self.next_purpose(self.rounds));
            }
            return;
        }
        self.phase = match (self.calls.is_empty(), &self.typed) {
            (true, None) => Phase::Ended("answered"),
            (true, Some(_)) if filtered => Phase::Ended("failed"),
            (true, Some(_)) => Phase::Checking,
            (false, _) => Phase::Acting,
        };
        if filtered && answers {
            self.end("failed");
        } else if limit && self.phase == Phase::Acting && !self.is_checking() {
            self.end("limit");
        }
    }

    /// Returns the tool whose arguments are the answer.
    pub(super) fn answering_tool(&self) -> Option<String> {
        let (expectation, _) = self.typed.as_ref()?;
        (expectation.mode == OutputMode::Tool).then(|| expectation.tool.clone())
    }

    fn checked_call(&self) -> Option<&Call> {
        self.calls.iter().find(|call| matches!(call.state, State::Checking))
    }

    /// Returns whether an answer has to be checked.
    pub(super) fn is_checking(&self) -> bool {
        self.phase == Phase::Checking || self.checked_call().is_some()
    }

    /// Applies the verdict on an answer.
    pub(super) fn verdict(&mut self, accepted: bool) {
        let (expectation, repairs) = self.typed.as_mut().expect("a typed turn");
        let end = match accepted {
            true => Some("answered"),
            false if *repairs == expectation.max_repairs => Some("failed"),
            false => {
                *repairs += 1;
                None
            }
        };
        let settled = if accepted {
            Settled::Accepted
        } else {
            Settled::Failed("does not fit the schema")
        };
        let call = self.calls.iter_mut().find(|call| matches!(call.state, State::Checking));
        let is_text = call.is_none();
        if let Some(call) = call {
            call.state = State::Settled(settled);
        }
        match end {
            Some(how) => self.end(how),
            None if is_text => self.phase = Phase::Calling(self.next_purpose(self.rounds)),
            None => {}
        }
    }

    /// Applies a failed call of the model.
    pub(super) fn fail(&mut self, too_long: bool) {
        if too_long && self.overflow == Overflow::None {
            self.overflow = Overflow::Due;
        } else {
            self.end("failed");
        }
    }

    /// Applies the end of a compaction.
    pub(super) fn compacted(&mut self, changed: bool) {
        self.summing = None;
        if self.overflow == Overflow::Due {
            self.overflow = Overflow::Retried;
            if !changed {
                self.end("failed");
            }
        }
    }

    /// Applies an exhausted budget.
    pub(super) fn limit(&mut self, is_time: bool) {
        let wraps_up = self.limits.at_round_limit == RoundLimit::WrapUp;
        match self.phase {
            Phase::Calling(Purpose::Reply) if wraps_up => {
                (self.wraps_up, self.phase) = (true, Phase::Calling(Purpose::WrapUp));
            }
            Phase::Calling(_) => self.end("limit"),
            _ => {
                self.give_up(|state| match state {
                    State::Running => is_time,
                    State::Asking(_) => is_time || !wraps_up,
                    _ => true,
                });
                if wraps_up {
                    self.wraps_up = true;
                } else {
                    self.closing = Some("limit");
                }
            }
        }
    }

    /// Returns whether the machine waits for a reply.
    pub(super) fn waits_for_reply(&self) -> bool {
        matches!(self.phase, Phase::Calling(_)) && self.summing.is_none() && self.overflow != Overflow::Due
    }

    /// Ends the turn. Calls without a result get one.
    pub(super) fn end(&mut self, how: &'static str) {
        self.give_up(|_| true);
        self.phase = Phase::Ended(how);
        self.overflow = Overflow::None;
    }

    /// Applies a handoff: calls that have not started never start.
    pub(super) fn divert(&mut self) {
        self.diverted = true;
        self.give_up(|state| !matches!(state, State::Running));
    }

    fn give_up(&mut self, which: impl Fn(&State) -> bool) {
        self.calls
            .iter_mut()
            .filter(|call| which(&call.state))
            .for_each(Call::give_up);
    }

    pub(super) fn call(&mut self, id: &str) -> &mut Call {
        self.calls
            .iter_mut()
            .find(|call| call.id == id)
            .expect("a call of this round")
    }

    pub(super) fn ask(&mut self, id: &str, question: Question) {
        let closing = self.diverted || self.closing.is_some();
        let call = self.call(id);
        call.interrupted |= question.kind == QuestionKind::Uncertain && question.state.is_null();
        call.state = State::Asking(Box::new(question));
        if closing {
            call.give_up();
        }
    }

    pub(super) fn answer(&mut self, id: &str, answer: Answer) {
        let call = self
            .calls
            .iter_mut()
            .find(|call| call.id == id)
            .expect("a call of this round");
        let State::Asking(question) = call.state.clone() else {
            panic!("{id} has no open question")
        };
        call.state = State::Ready;
        let is_about_outcome = question.kind == QuestionKind::Uncertain && question.state.is_null();
        match &answer {
            // It runs again as it did before.
            Answer::Approve { arguments: None, .. } if is_about_outcome && call.resumed.is_some() => {}
            Answer::Approve { .. } => call.resumed = Some((Question::clone(&question), answer)),
            _ if is_about_outcome => call.state = State::Settled(Settled::Failed("is unknown")),
            _ => call.resumed = Some((Question::clone(&question), answer)),
        }
        self.answered.push(*question);
    }

    /// Returns the calls of the round if all are settled. Their messages must be the end of the history.
    pub(super) fn close_round(&mut self) -> Option<Vec<Call>> {
        if self.calls.is_empty() || !self.calls.iter().all(|call| matches!(call.state, State::Settled(_))) {
            return None;
        }
        self.rounds += 1;
        let calls = std::mem::take(&mut self.calls);
        self.settled.extend(calls.iter().map(|call| call.id.clone()));
        if self.phase == Phase::Acting {
            let next = Phase::Calling(self.next_purpose(self.rounds));
            self.phase = match self.closing.take() {
                Some(how) => Phase::Ended(how),
                None if self.diverted => Phase::Ended("diverted"),
                None => next,
            };
        }
        Some(calls)
    }

    pub(super) fn ids(&self, which: impl Fn(&State) -> bool) -> Vec<String> {
        self.calls
            .iter()
            .filter(|call| which(&call.state))
            .map(|call| call.id.clone())
            .collect()
    }

    pub(super) fn ready(&self) -> Vec<String> {
        self.ids(|state| matches!(state, State::Ready))
    }

    pub(super) fn running(&self) -> Vec<String> {
        self.ids(|state| matches!(state, State::Running))
    }

    pub(super) fn asking(&self) -> Vec<String> {
        self.ids(|state| matches!(state, State::Asking(_)))
    }
}

/// Returns whether the input of a call is valid for a tool.
pub(super) fn can_run(call: &ToolCall) -> bool {
    match &call.input {
        CallInput::Arguments(raw) => {
            raw.is_empty() || matches!(serde_json::from_str(raw), Ok(Value::Object(_) | Value::Null))
        }
        _ => true,
    }
}
