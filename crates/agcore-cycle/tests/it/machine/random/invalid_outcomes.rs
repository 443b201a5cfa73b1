//! Outcomes that do not fit the state.

use agcore_chat::{Answer, AssistantMessage, Message, Question, QuestionKind, ToolOutcome};
use agcore_cycle::{
    OutputMode,
    budget::{BudgetLimit, Resource, Scope},
    machine::{Begin, Cause, Compact, CompactReason, Failure, MachineError, Outcome, Reply, Summary, Verdict},
};
use fastrand::Rng;

use super::{
    generate::{fault, one},
    model::{Model, Overflow, Phase, State},
};

/// An invalid outcome, and a check of the error that it must cause.
type Invalid = (Outcome, fn(&MachineError) -> bool);

/// Returns a random invalid outcome.
pub(super) fn outcome(rng: &mut Rng, model: &Model) -> Invalid {
    let mut invalid: Vec<Invalid> = Vec::new();
    turns(rng, model, &mut invalid);
    calls(model, &mut invalid);
    questions(model, &mut invalid);
    one(rng, &invalid)
}

fn not_waiting(error: &MachineError) -> bool {
    matches!(error, MachineError::NotWaitingFor(_))
}

fn turns(rng: &mut Rng, model: &Model, invalid: &mut Vec<Invalid>) {
    if model.is_open() {
        let begin = Begin::new([Message::user("me too")]);
        invalid.push((Outcome::TurnStarted(begin), |error| *error == MachineError::TurnOpen));
    } else {
        if model.summing.is_none() {
            invalid.push((Outcome::Stop(Cause::cancelled()), |error| {
                *error == MachineError::NoTurn
            }));
        }
        invalid.push((Outcome::EventsSent(9), |error| *error == MachineError::NoTurn));
        let begin = Begin::new([Message::user("one"), Message::user("two")]);
        invalid.push((Outcome::TurnStarted(begin), |error| {
            matches!(error, MachineError::InvalidMessages(_))
        }));
        let begin = Begin::replacing([Message::user("one"), Message::assistant("two")]);
        invalid.push((Outcome::TurnStarted(begin), |error| {
            *error == MachineError::NothingToAnswer
        }));
    }
    if !model.is_checking() || model.summing.is_some() {
        for verdict in [Verdict::Accepted, Verdict::Rejected(Vec::new())] {
            invalid.push((Outcome::Verdict(verdict), not_waiting));
        }
    } else {
        let ready = model.ready().into_iter().map(Into::into).collect();
        invalid.push((Outcome::Started(ready), not_waiting));
        invalid.push((
            Outcome::limit(BudgetLimit::new(Scope::Turn, Resource::Time)),
            not_waiting,
        ));
    }
    if !model.waits_for_reply() || model.typed.is_none() {
        invalid.push((Outcome::Recast(OutputMode::Prompt), not_waiting));
    }
    let reply = Reply::new(AssistantMessage::new("Hi"));
    if !model.waits_for_reply() {
        invalid.push((Outcome::Reply(reply.clone()), not_waiting));
        if model.summing.is_none() {
            invalid.push((Outcome::Failed(Failure::new(fault(rng))), not_waiting));
        }
        if !matches!(model.phase, Phase::Acting) || model.summing.is_some() {
            let limit = BudgetLimit::new(Scope::Turn, Resource::Tokens);
            invalid.push((Outcome::limit(limit), not_waiting));
        }
    }
    compactions(model, reply, invalid);
}

fn compactions(model: &Model, reply: Reply, invalid: &mut Vec<Invalid>) {
    let bad = |error: &MachineError| matches!(error, MachineError::InvalidCompaction(_));
    let compact = |reason| Compact::new(reason, 100);
    if model.summing.is_some() {
        for reason in [CompactReason::Asked, CompactReason::Overflow, CompactReason::Threshold] {
            invalid.push((Outcome::Compact(compact(reason)), not_waiting));
        }
        return;
    }
    invalid.push((Outcome::Summary(Summary::new(reply, 1)), not_waiting));
    if model.overflow == Overflow::Due {
        invalid.push((Outcome::Compact(compact(CompactReason::Asked)), not_waiting));
        let nowhere = compact(CompactReason::Overflow).with_cut(Some(9_999));
        invalid.push((Outcome::Compact(nowhere), bad));
    } else {
        invalid.push((Outcome::Compact(compact(CompactReason::Overflow)), not_waiting));
        invalid.push((Outcome::Compact(compact(CompactReason::Asked)), bad));
        invalid.push((Outcome::Compact(compact(CompactReason::Asked).with_cut(Some(0))), bad));
        let nothing = compact(CompactReason::Asked).with_results(vec![9_999], 50);
        invalid.push((Outcome::Compact(nothing), bad));
    }
    if !matches!(model.phase, Phase::Calling(_)) {
        invalid.push((Outcome::Compact(compact(CompactReason::Threshold)), not_waiting));
    }
}

fn calls(model: &Model, invalid: &mut Vec<Invalid>) {
    let tool = |id: &str, outcome| Outcome::Tool {
        call: id.into(),
        outcome,
        duration_us: 1,
        input: None,
    };
    let done = |id: &str| tool(id, ToolOutcome::done("late"));
    let known = model.settled.iter().min().cloned().unwrap_or_default();
    for id in ["unknown", known.as_str()] {
        invalid.push((done(id), not_waiting));
        invalid.push((Outcome::Redo(id.into()), not_waiting));
        let ready = model.ready().into_iter().map(Into::into).chain([id.into()]);
        invalid.push((Outcome::Started(ready.collect()), not_waiting));
    }
    for call in &model.calls {
        if !matches!(call.state, State::Running) && (model.is_checking() || !matches!(call.state, State::Ready)) {
            invalid.push((done(&call.id), not_waiting));
            invalid.push((
                tool(
                    &call.id,
                    ToolOutcome::Fatal(agcore_chat::Fault::new(agcore_chat::FaultKind::Tool, "x")),
                ),
                not_waiting,
            ));
        }
        if !matches!(call.state, State::Running) {
            invalid.push((Outcome::Redo(call.id.as_str().into()), not_waiting));
        }
        if !matches!(call.state, State::Ready) {
            invalid.push((Outcome::Started(vec![call.id.as_str().into()]), not_waiting));
        }
    }
}

fn questions(model: &Model, invalid: &mut Vec<Invalid>) {
    let answer = |question: &Question| Outcome::Answer(question.id.clone(), Answer::deny("again"));
    let unknown = Question::new("unknown", 1, QuestionKind::Input, "?");
    invalid.push((answer(&unknown), |error| {
        matches!(error, MachineError::UnknownQuestion(_))
    }));
    for question in &model.answered {
        invalid.push((answer(question), |error| {
            matches!(error, MachineError::AlreadyAnswered(_))
        }));
    }
    let Some(id) = model.running().pop() else {
        return;
    };
    let asks = |question| Outcome::Tool {
        call: id.as_str().into(),
        outcome: ToolOutcome::ask(question),
        duration_us: 1,
        input: None,
    };
    invalid.push((asks(unknown), |error| matches!(error, MachineError::InvalidQuestion(_))));
}
