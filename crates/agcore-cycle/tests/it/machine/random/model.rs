//! [`Model`]: what the player expects of the machine, told by the rules and not by the machine's code.

use std::collections::HashSet;

use agcore_chat::{
    Answer, AssistantMessage, CallInput, FinishReason, Message, Question, QuestionKind, ToolCall, ToolResult,
};
use agcore_cycle::{
    OutputMode,
    machine::{CompactReason, Expectation, Limits, Machine, Purpose, RoundLimit, Step},
};
use serde_json::Value;

/// Where the turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Calling(Purpose),
    /// A text is checked.
    Checking,
    Acting,
    Ended(&'static str),
}

/// What a call came to.
#[derive(Debug, Clone)]
pub(super) enum Settled {
    /// Its own result.
    As(ToolResult),
    /// A failure whose text holds this.
    Failed(&'static str),
    /// The answer of a typed turn.
    Accepted,
}

#[derive(Debug, Clone)]
pub(super) enum State {
    Ready,
    Running,
    Asking(Question),
    /// Its arguments are checked.
    Checking,
    Settled(Settled),
}

#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) state: State,
    pub(super) resumed: Option<(Question, Answer)>,
    /// A run of it was interrupted.
    pub(super) interrupted: bool,
}

impl Call {
    /// No result will come; the text must not claim what is not known.
    fn give_up(&mut self) {
        if !matches!(self.state, State::Settled(_)) {
            let unknown = self.interrupted || matches!(self.state, State::Running);
            self.state = State::Settled(Settled::Failed(if unknown { "is not known" } else { "was not run" }));
        }
    }
}

/// Whether the model said of the call under way that it is too long.
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
    /// Questions of this turn that were answered.
    pub(super) answered: Vec<Question>,
    /// Calls of the conversation that have their result: none of them runs ever again.
    pub(super) settled: HashSet<String>,
    /// Why a summary is waited for, and whether results are taken out when none comes.
    pub(super) summing: Option<(CompactReason, bool)>,
    pub(super) overflow: Overflow,
    /// A budget is spent, and the model is asked to wrap up.
    pub(super) wraps_up: bool,
    /// A budget for tools is spent: how the turn ends after this round.
    closing: Option<&'static str>,
    /// What a typed turn asks, and how often its answer was sent back.
    pub(super) typed: Option<(Expectation, u32)>,
    /// Whether the answer that is checked was cut.
    is_cut: bool,
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

    /// A reply with its final ids was accepted.
    pub(super) fn reply(&mut self, message: &AssistantMessage, finish: Option<&FinishReason>) {
        let Phase::Calling(purpose) = self.phase else {
            panic!("no reply was due")
        };
        self.overflow = Overflow::None;
        let limit = purpose == Purpose::WrapUp
            || (self.rounds >= self.limits.max_tool_turns && self.limits.at_round_limit == RoundLimit::Fail);
        let cut = matches!(finish, Some(FinishReason::Length | FinishReason::ContentFilter));
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
            } else if limit || cut {
                State::Settled(Settled::Failed("was not run"))
            } else if runs(call) {
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

    /// The tool whose arguments are the answer.
    pub(super) fn answering_tool(&self) -> Option<String> {
        let (expectation, _) = self.typed.as_ref()?;
        (expectation.mode == OutputMode::Tool).then(|| expectation.tool.clone())
    }

    fn checked_call(&self) -> Option<&Call> {
        self.calls.iter().find(|call| matches!(call.state, State::Checking))
    }

    /// Whether an answer is to be checked.
    pub(super) fn is_checking(&self) -> bool {
        self.phase == Phase::Checking || self.checked_call().is_some()
    }

    /// The answer fits, or does not.
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

    /// The call of the model failed.
    pub(super) fn fail(&mut self, too_long: bool) {
        if too_long && self.overflow == Overflow::None {
            self.overflow = Overflow::Due;
        } else {
            self.end("failed");
        }
    }

    /// A compaction is over, and changed something or not.
    pub(super) fn compacted(&mut self, changed: bool) {
        self.summing = None;
        if self.overflow == Overflow::Due {
            self.overflow = Overflow::Retried;
            if !changed {
                self.end("failed");
            }
        }
    }

    /// A budget is spent; `all` when it is time.
    pub(super) fn limit(&mut self, all: bool) {
        let wraps_up = self.limits.at_round_limit == RoundLimit::WrapUp;
        match self.phase {
            Phase::Calling(Purpose::Reply) if wraps_up => {
                (self.wraps_up, self.phase) = (true, Phase::Calling(Purpose::WrapUp));
            }
            Phase::Calling(_) => self.end("limit"),
            _ => {
                self.give_up(|state| match state {
                    State::Running => all,
                    State::Asking(_) => all || !wraps_up,
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

    /// Whether a reply is waited for.
    pub(super) fn waits_for_reply(&self) -> bool {
        matches!(self.phase, Phase::Calling(_)) && self.summing.is_none() && self.overflow != Overflow::Due
    }

    /// The turn ends; what has no result gets one.
    pub(super) fn end(&mut self, how: &'static str) {
        self.give_up(|_| true);
        self.phase = Phase::Ended(how);
        self.overflow = Overflow::None;
    }

    /// A handoff: what has not begun does not begin.
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
        call.interrupted |= question.kind == QuestionKind::Uncertain;
        call.state = State::Asking(question);
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
            panic!("{id} asks nothing")
        };
        call.state = State::Ready;
        if question.kind != QuestionKind::Uncertain {
            call.resumed = Some((question.clone(), answer));
        } else if !matches!(answer, Answer::Approve { .. }) {
            call.state = State::Settled(Settled::Failed("is not known"));
        }
        self.answered.push(question);
    }

    /// When all calls are settled, their round: it must be the end of the history.
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

    /// Whether the machine says what the rules say.
    pub(super) fn agree(&self, machine: &Machine) {
        let ids = |calls: Vec<&ToolCall>| calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>();
        assert_eq!(machine.is_open(), self.is_open());
        assert_eq!(machine.round(), self.rounds);
        assert_eq!(ids(machine.uncertain().collect()), self.running());
        assert_eq!(
            machine.pending_summary().map(|compact| compact.reason),
            self.summing.map(|(reason, _)| reason)
        );
        if self.summing.is_some() {
            let Step::Call(plan) = machine.next() else {
                panic!("{:?}", machine.next())
            };
            assert_eq!(plan.purpose, Purpose::Summary);
            agcore_chat::validate_messages(&plan.messages()).expect("what is summed up is whole");
            return;
        }
        match machine.next() {
            Step::Shorten(_) => {
                assert!(self.overflow == Overflow::Due && matches!(self.phase, Phase::Calling(_)));
            }
            Step::Check(draft) => {
                assert!(self.is_checking());
                assert_eq!(
                    draft.call.map(|call| &call.id),
                    self.checked_call().map(|call| &call.id)
                );
                assert_eq!(draft.is_cut, self.is_cut);
            }
            Step::Idle => assert_eq!(self.phase, Phase::Idle),
            Step::Call(plan) => {
                assert_eq!(Phase::Calling(plan.purpose), self.phase);
                assert_ne!(self.overflow, Overflow::Due);
                let messages = plan.messages();
                agcore_chat::validate_messages(&messages).expect("what is sent is valid");
                assert!(
                    !matches!(**messages.last().unwrap(), Message::Assistant(_)),
                    "there is something to answer"
                );
            }
            Step::Run(work) => {
                assert!(self.phase == Phase::Acting && !self.is_checking());
                assert_eq!(ids(work.iter().map(|work| &*work.call).collect()), self.ready());
                assert!(
                    !work.is_empty() || !self.running().is_empty(),
                    "nothing runs and nothing may start"
                );
                for work in &work {
                    let call = self.calls.iter().find(|call| call.id == work.call.id).unwrap();
                    assert_eq!(work.resumed.as_deref(), call.resumed.as_ref());
                    assert!(!self.settled.contains(&call.id), "{} has its result", call.id);
                }
            }
            Step::Wait(questions) => {
                assert!(self.phase == Phase::Acting && self.ready().is_empty() && self.running().is_empty());
                let asking: Vec<_> = questions.iter().map(|question| question.call_id.to_string()).collect();
                assert_eq!(asking, self.asking());
                assert!(!asking.is_empty());
            }
            Step::End(end) => {
                let json = serde_json::to_value(end).unwrap();
                let how = json
                    .as_str()
                    .or_else(|| json.as_object()?.keys().next().map(String::as_str));
                assert_eq!(
                    Phase::Ended(LABELS.iter().find(|label| Some(**label) == how).unwrap()),
                    self.phase
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

/// How turns end.
const LABELS: [&str; 5] = ["answered", "diverted", "failed", "stopped", "limit"];

/// Whether a call's input is fit for a tool.
pub(super) fn runs(call: &ToolCall) -> bool {
    match &call.input {
        CallInput::Arguments(raw) => {
            raw.is_empty() || matches!(serde_json::from_str(raw), Ok(Value::Object(_) | Value::Null))
        }
        _ => true,
    }
}

/// Whether a tool message says what the call came to.
pub(super) fn says(message: &Message, settled: &Settled, limit: usize) -> bool {
    let Message::Tool(result) = message else {
        return false;
    };
    let text = message.text();
    match settled {
        // What a person said of an uncertain call is cut like any result.
        Settled::Failed(why) => result.marks.is_error && (text.contains(why) || (limit <= 80 && text.len() <= limit)),
        Settled::Accepted => !result.marks.is_error && text == "The answer was accepted.",
        Settled::As(expected) => {
            let whole = expected.content.text();
            let fits = if whole.len() <= limit {
                result.content == expected.content
            } else {
                text.len() <= limit
            };
            fits && result.marks.is_error == expected.is_error
        }
    }
}
