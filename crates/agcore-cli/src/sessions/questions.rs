//! The questions of suspended turns, as they are stored for other processes.

use agcore::{
    AgentSession,
    chat::{Answer, Question, QuestionId},
    session::{Approval, ApprovalFilter, ApprovalStatus, SessionStatus},
};
use ring::digest::{SHA256, digest};

use super::{Sessions, folder_of};
use crate::exit::Failure;

/// The number of bytes of a hash that are the id of a question for people: 12 digits.
const KEY_BYTES: usize = 6;

/// A question that waits for a person, or that a person has answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenQuestion {
    /// The id by which people name it.
    pub(crate) key: String,
    /// The question, with the exact arguments of the call.
    pub(crate) question: Question,
    /// Its row in the store.
    pub(crate) approval: Approval,
}

impl Sessions {
    /// Returns the questions with this status, the oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn questions(&self, status: Option<ApprovalStatus>) -> Result<Vec<OpenQuestion>, Failure> {
        let mut filter = ApprovalFilter::owned_by(Self::owner());
        filter.status = status;
        let mut approvals = self.store.approvals(&filter).await?;
        approvals.sort_by_key(|approval| approval.asked_at);
        Ok(approvals.into_iter().filter_map(open_question).collect())
    }

    /// Returns whether a session has a turn that waits for answers.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn waits(&self, session: &str) -> Result<bool, Failure> {
        let session = self.store.get_session(&Self::owner().tenant, session).await?;
        Ok(session.is_some_and(|session| session.status == SessionStatus::Pending))
    }

    /// Returns the folder in which a session was started, if it is known.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn folder_of(&self, session: &str) -> Result<Option<String>, Failure> {
        let session = self.store.get_session(&Self::owner().tenant, session).await?;
        Ok(session.as_ref().and_then(folder_of).map(str::to_owned))
    }

    /// Stores an answer. The same answer again changes nothing.
    ///
    /// # Errors
    /// When the question has another answer already or is withdrawn, or the database cannot be written.
    pub(crate) async fn answer(&self, question: &OpenQuestion, answer: &Answer) -> Result<(), Failure> {
        let owner = Self::owner();
        let value = serde_json::to_value(answer).map_err(|error| Failure::task(error.to_string()))?;
        let (session, id) = (&question.approval.session, &question.approval.id);
        self.store.answer(&owner.tenant, session, id, value, &owner).await?;
        Ok(())
    }
}

/// Returns the stored answers to the open questions of a session.
///
/// # Errors
/// When the database cannot be read.
pub(crate) async fn answers_of(
    sessions: &Sessions,
    session: &AgentSession,
) -> Result<Vec<(QuestionId, Answer)>, Failure> {
    let open = session.questions().await;
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let filter = ApprovalFilter::owned_by(Sessions::owner())
        .with_session(session.id())
        .with_status(ApprovalStatus::Answered);
    let approvals = sessions.store.approvals(&filter).await?;
    let answer = |approval: Approval| {
        let id = QuestionId::from(approval.id);
        let answer = serde_json::from_value(approval.answer?).ok()?;
        open.iter().any(|question| question.id == id).then_some((id, answer))
    };
    Ok(approvals.into_iter().filter_map(answer).collect())
}

/// Returns the id by which people name a question: a hash, because questions are numbered within their session only.
pub(crate) fn question_key(session: &str, question: &str) -> String {
    let hash = digest(&SHA256, format!("{session}\n{question}").as_bytes());
    let bytes = hash.as_ref().iter().take(KEY_BYTES);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// Returns `None` for a row that another program wrote.
fn open_question(approval: Approval) -> Option<OpenQuestion> {
    Some(OpenQuestion {
        key: question_key(&approval.session, &approval.id),
        question: serde_json::from_value(approval.question.clone()).ok()?,
        approval,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_depends_on_session_and_question() {
        let key = question_key("s-1", "call_1?0");
        assert_eq!(key.len(), 12);
        assert_eq!(key, question_key("s-1", "call_1?0"));
        assert_ne!(key, question_key("s-2", "call_1?0"));
        assert_ne!(key, question_key("s-1", "call_1?1"));
    }
}
