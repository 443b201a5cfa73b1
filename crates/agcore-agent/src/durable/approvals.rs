//! The questions of a suspended turn as approvals, which other processes list and answer.

use agcore_chat::{Question, QuestionId};
use agcore_cycle::machine::Outcome;
use agcore_session::{
    Approval, ApprovalChange, ApprovalFilter, ApprovalStatus, NewApproval, SessionError, SessionErrorKind,
};
use serde::Serialize;
use serde_json::Value;

use super::stream::Stream;

/// Returns the question as an approval that waits for a person.
pub(super) fn new_approval(question: &Question, run: &str) -> Result<NewApproval, SessionError> {
    let approval = NewApproval::new(question.id.to_string(), run, to_json(question)?);
    Ok(approval.with_call(question.call_id.to_string()))
}

/// Returns the ids of all questions that the session has ever asked.
pub(super) async fn asked_approvals(stream: &Stream) -> Result<Vec<QuestionId>, SessionError> {
    let filter = ApprovalFilter::new(&*stream.tenant).with_session(&*stream.session);
    let approvals = stream.sink.store.approvals(&filter).await?;
    Ok(approvals.into_iter().map(|approval| approval.id.into()).collect())
}

/// Returns the changes that close open questions: those that these outcomes answer, and all others if the turn `ends`. A question
/// that another process has answered is closed already.
pub(super) async fn closed_approvals(
    stream: &Stream,
    outcomes: &[Outcome],
    ends: bool,
) -> Result<Vec<ApprovalChange>, SessionError> {
    let answer_to = |id: &str| {
        outcomes.iter().find_map(|outcome| match outcome {
            Outcome::Answer(question, answer) if *question.0 == *id => Some(answer),
            _ => None,
        })
    };
    if !ends && !outcomes.iter().any(|outcome| matches!(outcome, Outcome::Answer(..))) {
        return Ok(Vec::new());
    }
    let Stream {
        sink, tenant, session, ..
    } = stream;
    let store = &sink.store;
    let Some(owner) = store.get_session(tenant, session).await?.map(|session| session.owner) else {
        return Ok(Vec::new());
    };
    let filter = ApprovalFilter::new(&**tenant)
        .with_session(&**session)
        .with_status(ApprovalStatus::Open);
    let open: Vec<Approval> = store.approvals(&filter).await?;
    let mut changes = Vec::new();
    for Approval { id, .. } in open {
        match answer_to(&id) {
            Some(answer) => changes.push(ApprovalChange::answer(id, to_json(answer)?, owner.clone())),
            None if ends => changes.push(ApprovalChange::withdraw(id)),
            None => {}
        }
    }
    Ok(changes)
}

fn to_json(value: &impl Serialize) -> Result<Value, SessionError> {
    serde_json::to_value(value).map_err(|error| {
        SessionError::with_source(
            SessionErrorKind::Serialization,
            "a question cannot be written as JSON",
            error,
        )
    })
}
