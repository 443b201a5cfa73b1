//! A machine under test, short constructors of outcomes, and history and events as short lines.

use std::sync::Arc;

use agcore_chat::{
    Answer, AssistantMessage, Block, EventKind, Fault, FaultKind, FinishReason, Message, ModelEvent, PersonEvent,
    Question, QuestionId, QuestionKind, TextEvent, ToolCall, ToolEvent, ToolOutcome, TurnEvent, validate_messages,
};
use agcore_cycle::machine::{Begin, Changes, Failure, Limits, Machine, MachineError, Outcome, Reply, Step};
use serde_json::json;

/// A machine, and the events that it has emitted so far.
#[derive(Debug)]
pub(super) struct TestRun {
    pub(super) machine: Machine,
    pub(super) events: Vec<EventKind>,
    /// The questions so far: the id that the call gave, and the one that the machine derived from it.
    questions: Vec<(QuestionId, QuestionId)>,
}

impl TestRun {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            machine: Machine::new(limits),
            events: Vec::new(),
            questions: Vec::new(),
        }
    }

    /// Creates a machine whose first turn started with "Hello".
    pub(super) fn started() -> Self {
        Self::started_with(Limits::new())
    }

    pub(super) fn started_with(limits: Limits) -> Self {
        let mut run = Self::new(limits);
        run.absorb(start_turn("Hello"));
        run
    }

    /// Creates a machine whose first turn has these calls of the model.
    pub(super) fn acting(ids: &[&str]) -> Self {
        let mut run = Self::started();
        run.absorb(call_reply(ids));
        run
    }

    /// Like [`acting`](Self::acting), with all calls running.
    pub(super) fn running(ids: &[&str]) -> Self {
        let mut run = Self::acting(ids);
        run.absorb(started(ids));
        run
    }

    /// Absorbs a valid outcome, and checks the invariants.
    #[track_caller]
    pub(super) fn absorb(&mut self, outcome: Outcome) -> Changes {
        let outcome = self.with_id(outcome);
        let asked = match &outcome {
            Outcome::Tool {
                outcome: ToolOutcome::Ask(question),
                ..
            } => Some((question.id.clone(), question.call_id.clone())),
            _ => None,
        };
        let before = self.machine.history().len();
        let changes = self.machine.absorb(outcome).unwrap();
        let kept = if changes.replaced { 0 } else { before };
        assert_eq!(self.machine.history().len(), kept + changes.appended);
        if !self.machine.history().is_empty() {
            validate_messages(self.machine.history()).unwrap();
        }
        self.events.extend(changes.events.iter().cloned());
        if let Some((own, call)) = asked {
            let named = self.machine.questions().find(|question| question.call_id == call);
            self.questions.extend(named.map(|named| (own, named.id.clone())));
        }
        changes
    }

    /// Returns the id of a question of a call, given the one that the call gave.
    pub(super) fn id(&self, own: &str) -> QuestionId {
        let mut questions = self.questions.iter().rev();
        questions
            .find(|(id, _)| *id == own.into())
            .map_or_else(|| own.into(), |(_, id)| id.clone())
    }

    /// Replaces the id of a question in an answer.
    fn with_id(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Answer(question, answer) => Outcome::Answer(self.id(&question.0), answer),
            other => other,
        }
    }

    /// Absorbs an invalid outcome, and checks that nothing changed.
    #[track_caller]
    pub(super) fn reject(&mut self, outcome: Outcome) -> MachineError {
        let before = self.machine.clone();
        let outcome = self.with_id(outcome);
        let error = self.machine.absorb(outcome).unwrap_err();
        assert_eq!(self.machine, before, "{error}");
        match error {
            MachineError::AlreadyAnswered(id) => MachineError::AlreadyAnswered(own_id(&id).into()),
            MachineError::UnknownQuestion(id) => MachineError::UnknownQuestion(own_id(&id).into()),
            other => other,
        }
    }

    /// Saves and restores the state, as if the process had died.
    pub(super) fn reload(&mut self) {
        let json = serde_json::to_string(&self.machine).unwrap();
        self.machine = serde_json::from_str(&json).unwrap();
    }

    /// Returns the history, one line per message.
    pub(super) fn history(&self) -> Vec<String> {
        self.machine
            .history()
            .iter()
            .map(|message| message_line(message))
            .collect()
    }

    /// Returns the events so far, one line each.
    pub(super) fn event_lines(&self) -> Vec<String> {
        self.events.iter().map(event_line).collect()
    }

    /// Returns the next step as a line.
    pub(super) fn step(&self) -> String {
        match self.machine.next() {
            Step::Idle => "idle".into(),
            Step::Call(plan) => format!("call {:?}", plan.purpose),
            Step::Run(work) => {
                let ids = work.iter().map(|work| match work.resumed.as_deref() {
                    None => work.call.id.clone(),
                    Some((question, answer)) => {
                        format!("{} after {} {answer:?}", work.call.id, question.id)
                    }
                });
                format!("run [{}]", ids.collect::<Vec<_>>().join(", "))
            }
            Step::Wait(questions) => {
                let ids: Vec<_> = questions.iter().map(|question| own_id(&question.id)).collect();
                format!("wait [{}]", ids.join(", "))
            }
            Step::End(end) => format!("end {}", end_line(end)),
            _ => "unknown".into(),
        }
    }
}

fn end_line(end: &agcore_cycle::machine::End) -> String {
    use agcore_cycle::machine::End;
    match end {
        End::Answered => "answered".into(),
        End::Diverted { call, data } => format!("diverted by {call} {data}"),
        End::Failed(fault) => format!("failed {}", fault.kind),
        End::Stopped(cause) => format!("stopped {}", cause.kind),
        End::Limit(limit) => format!("limit {}", limit.as_str()),
        _ => "unknown".into(),
    }
}

pub(super) fn message_line(message: &Message) -> String {
    match message {
        Message::Tool(result) => {
            let mark = if result.marks.is_error { " failed" } else { "" };
            format!("{}{mark}: {}", result.tool_call_id, message.text())
        }
        Message::Assistant(reply) => {
            let ids: Vec<_> = reply.tool_calls().map(|call| call.id.as_str()).collect();
            format!("assistant: {}{ids:?}", message.text())
        }
        other => format!("{}: {}", other.role(), other.text()),
    }
}

pub(super) fn event_line(event: &EventKind) -> String {
    match event {
        EventKind::Turn(TurnEvent::Started(_)) => "turn started".into(),
        EventKind::Turn(TurnEvent::BudgetReached { limit }) => format!("limit {limit}"),
        EventKind::Turn(TurnEvent::Error(fault)) => format!("error {}", fault.kind),
        EventKind::Turn(TurnEvent::Complete { .. }) => "complete".into(),
        EventKind::Text(TextEvent::MessageComplete(message)) => {
            format!("message {}", message.text())
        }
        EventKind::Model(ModelEvent::Usage(usage)) => format!("usage {:?}", usage.total()),
        EventKind::Tool(ToolEvent::Requested { call_id, .. }) => format!("requested {call_id}"),
        EventKind::Tool(ToolEvent::Started { call_id, .. }) => format!("started {call_id}"),
        EventKind::Tool(ToolEvent::Completed { call_id, is_error, .. }) => {
            format!("completed {call_id}{}", if *is_error { " failed" } else { "" })
        }
        EventKind::Person(PersonEvent::Asked(question)) => format!("asked {}", own_id(&question.id)),
        EventKind::Person(PersonEvent::Answered { question, .. }) => format!("answered {}", own_id(question)),
        other => format!("{other:?}"),
    }
}

/// Returns the id that a call gave its question.
pub(super) fn own_id(id: &QuestionId) -> &str {
    id.0.split_once('.').map_or(&*id.0, |(own, _)| own)
}

pub(super) fn start_turn(text: &str) -> Outcome {
    Outcome::TurnStarted(Begin::new([Message::user(text)]))
}

/// Returns a reply of text.
pub(super) fn text_reply(text: &str) -> Outcome {
    Outcome::Reply(Reply::new(AssistantMessage::new(text)))
}

/// Returns a message of calls without arguments.
pub(super) fn call_message(ids: &[&str]) -> AssistantMessage {
    AssistantMessage::from_blocks(ids.iter().map(|id| Block::from(ToolCall::function(*id, "look", "{}"))))
}

/// Returns a reply of calls.
pub(super) fn call_reply(ids: &[&str]) -> Outcome {
    Outcome::Reply(Reply::new(call_message(ids)).with_finish(Some(FinishReason::ToolCalls)))
}

pub(super) fn started(ids: &[&str]) -> Outcome {
    Outcome::Started(ids.iter().map(|id| (*id).into()).collect())
}

pub(super) fn tool(id: &str, outcome: ToolOutcome) -> Outcome {
    Outcome::Tool {
        call: id.into(),
        outcome,
        duration_us: 7,
        input: None,
    }
}

pub(super) fn done(id: &str, text: &str) -> Outcome {
    tool(id, ToolOutcome::done(text))
}

/// Returns the question of a call. Its id is `<call>?<number>`.
pub(super) fn asks(id: &str, number: u32, kind: QuestionKind) -> Outcome {
    tool(id, ToolOutcome::ask(Question::new(id, number, kind, "Well?")))
}

pub(super) fn answers(question: &str, answer: Answer) -> Outcome {
    Outcome::Answer(question.into(), answer)
}

pub(super) fn diverts(id: &str) -> Outcome {
    tool(
        id,
        ToolOutcome::Divert {
            content: "over to billing".into(),
            data: json!("billing"),
        },
    )
}

pub(super) fn fatal(id: &str) -> Outcome {
    tool(id, ToolOutcome::Fatal(fault()))
}

pub(super) fn fault() -> Fault {
    Fault::new(FaultKind::Connection, "the connection broke; try again later")
}

pub(super) fn fails() -> Outcome {
    Outcome::Failed(Failure::new(fault()))
}

pub(super) fn shared(messages: impl IntoIterator<Item = Message>) -> Vec<Arc<Message>> {
    messages.into_iter().map(Arc::new).collect()
}
