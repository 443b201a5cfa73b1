//! Outcomes that nothing waits for.

use agcore_chat::{Answer, AssistantMessage, Message, Question, QuestionKind, ToolOutcome};
use agcore_cycle::{
    OutputMode,
    budget::{BudgetLimit, Resource, Scope},
    machine::{Begin, Cause, Compact, CompactReason, Failure, MachineError, Outcome, Reply, Summary, Verdict},
};
use fastrand::Rng;

use super::{
    chance::{fault, one},
    model::{Model, Overflow, Phase, State},
};

/// An outcome, and whether a misuse is the right one for it.
type Wrong = (Outcome, fn(&MachineError) -> bool);

/// A random one.
pub(super) fn outcome(rng: &mut Rng, model: &Model) -> Wrong {
    let mut wrong: Vec<Wrong> = Vec::new();
    turns(rng, model, &mut wrong);
    calls(model, &mut wrong);
    questions(model, &mut wrong);
    one(rng, &wrong)
}

fn waits_not(misuse: &MachineError) -> bool {
    matches!(misuse, MachineError::NotWaitingFor(_))
}

fn turns(rng: &mut Rng, model: &Model, wrong: &mut Vec<Wrong>) {
    if model.is_open() {
        let begin = Begin::new([Message::user("me too")]);
        wrong.push((Outcome::TurnStarted(begin), |misuse| *misuse == MachineError::TurnOpen));
    } else {
        if model.summing.is_none() {
            wrong.push((Outcome::Stop(Cause::cancelled()), |misuse| *misuse == MachineError::NoTurn));
        }
        wrong.push((Outcome::EventsSent(9), |misuse| *misuse == MachineError::NoTurn));
        let begin = Begin::new([Message::user("one"), Message::user("two")]);
        wrong.push((Outcome::TurnStarted(begin), |misuse| {
            matches!(misuse, MachineError::InvalidMessages(_))
        }));
        let begin = Begin::replacing([Message::user("one"), Message::assistant("two")]);
        wrong.push((Outcome::TurnStarted(begin), |misuse| *misuse == MachineError::NothingToAnswer));
    }
    if !model.is_checking() || model.summing.is_some() {
        for verdict in [Verdict::Accepted, Verdict::Rejected(Vec::new())] {
            wrong.push((Outcome::Verdict(verdict), waits_not));
        }
    } else {
        let ready = model.ready().into_iter().map(Into::into).collect();
        wrong.push((Outcome::Started(ready), waits_not));
        wrong.push((Outcome::limit(BudgetLimit::new(Scope::Turn, Resource::Time)), waits_not));
    }
    if !model.waits_for_reply() || model.typed.is_none() {
        wrong.push((Outcome::Recast(OutputMode::Prompt), waits_not));
    }
    let reply = Reply::new(AssistantMessage::new("Hi"));
    if !model.waits_for_reply() {
        wrong.push((Outcome::Reply(reply.clone()), waits_not));
        if model.summing.is_none() {
            wrong.push((Outcome::Failed(Failure::new(fault(rng))), waits_not));
        }
        if !matches!(model.phase, Phase::Acting) || model.summing.is_some() {
            let limit = BudgetLimit::new(Scope::Turn, Resource::Tokens);
            wrong.push((Outcome::limit(limit), waits_not));
        }
    }
    compactions(model, reply, wrong);
}

fn compactions(model: &Model, reply: Reply, wrong: &mut Vec<Wrong>) {
    let bad = |misuse: &MachineError| matches!(misuse, MachineError::InvalidCompaction(_));
    let compact = |reason| Compact::new(reason, 100);
    if model.summing.is_some() {
        for reason in [CompactReason::Asked, CompactReason::Overflow, CompactReason::Threshold] {
            wrong.push((Outcome::Compact(compact(reason)), waits_not));
        }
        return;
    }
    wrong.push((Outcome::Summary(Summary::new(reply, 1)), waits_not));
    if model.overflow == Overflow::Due {
        wrong.push((Outcome::Compact(compact(CompactReason::Asked)), waits_not));
        let nowhere = compact(CompactReason::Overflow).with_cut(Some(9_999));
        wrong.push((Outcome::Compact(nowhere), bad));
    } else {
        wrong.push((Outcome::Compact(compact(CompactReason::Overflow)), waits_not));
        wrong.push((Outcome::Compact(compact(CompactReason::Asked)), bad));
        wrong.push((Outcome::Compact(compact(CompactReason::Asked).with_cut(Some(0))), bad));
        let nothing = compact(CompactReason::Asked).with_results(vec![9_999], 50);
        wrong.push((Outcome::Compact(nothing), bad));
    }
    if !matches!(model.phase, Phase::Calling(_)) {
        wrong.push((Outcome::Compact(compact(CompactReason::Threshold)), waits_not));
    }
}

fn calls(model: &Model, wrong: &mut Vec<Wrong>) {
    let tool = |id: &str, outcome| Outcome::Tool {
        call: id.into(),
        outcome,
        duration_us: 1,
    };
    let done = |id: &str| tool(id, ToolOutcome::done("late"));
    let known = model.settled.iter().min().cloned().unwrap_or_default();
    for id in ["nobody", known.as_str()] {
        wrong.push((done(id), waits_not));
        wrong.push((Outcome::Redo(id.into()), waits_not));
        let ready = model.ready().into_iter().map(Into::into).chain([id.into()]);
        wrong.push((Outcome::Started(ready.collect()), waits_not));
    }
    for call in &model.calls {
        if !matches!(call.state, State::Running) {
            wrong.push((done(&call.id), waits_not));
            wrong.push((
                tool(
                    &call.id,
                    ToolOutcome::Fatal(agcore_chat::Fault::new(agcore_chat::FaultKind::Tool, "x")),
                ),
                waits_not,
            ));
            wrong.push((Outcome::Redo(call.id.as_str().into()), waits_not));
        }
        if !matches!(call.state, State::Ready) {
            wrong.push((Outcome::Started(vec![call.id.as_str().into()]), waits_not));
        }
    }
}

fn questions(model: &Model, wrong: &mut Vec<Wrong>) {
    let answer = |question: &Question| Outcome::Answer(question.id.clone(), Answer::deny("again"));
    let unknown = Question::new("nobody", 1, QuestionKind::Input, "?");
    wrong.push((answer(&unknown), |misuse| matches!(misuse, MachineError::UnknownQuestion(_))));
    for question in &model.answered {
        wrong.push((answer(question), |misuse| matches!(misuse, MachineError::AlreadyAnswered(_))));
    }
    let Some(id) = model.running().pop() else {
        return;
    };
    let asks = |question| Outcome::Tool {
        call: id.as_str().into(),
        outcome: ToolOutcome::Ask(question),
        duration_us: 1,
    };
    wrong.push((asks(unknown), |misuse| matches!(misuse, MachineError::InvalidQuestion(_))));
    let asking = model.calls.iter().filter_map(|call| match &call.state {
        State::Asking(question) => Some(question),
        _ => None,
    });
    for used in asking.chain(&model.answered) {
        let mut question = Question::new(id.as_str(), 0, QuestionKind::Input, "?");
        question.id = used.id.clone();
        wrong.push((asks(question), |misuse| matches!(misuse, MachineError::InvalidQuestion(_))));
    }
}
