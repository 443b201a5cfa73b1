//! Approvals: questions that wait for a person.

use agcore_chat::{Actor, Timestamp, id};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::SessionError;

/// A question that a person has to answer, or has answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Approval {
    /// The id of the question, unique within the session for ever.
    pub id: String,
    /// The id of the session.
    pub session: String,
    /// The id of the run that waits.
    pub run: String,
    /// The id of the tool call that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The question.
    pub question: Value,
    /// The status.
    pub status: ApprovalStatus,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// The person who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<Actor>,
    /// The time of the question, set by the store.
    pub asked_at: Timestamp,
    /// The time of the answer or the withdrawal, set by the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
}

/// The status of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// The question has not been answered yet.
    Open,
    /// A person has answered.
    Answered,
    /// The answer is not needed any more, for example because the run was cancelled.
    Withdrawn,
}

/// A question to be stored with a [`Commit`](super::Commit).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewApproval {
    /// The id of the question, unique within the session for ever.
    pub id: String,
    /// The id of the run that waits.
    pub run: String,
    /// The id of the tool call that waits.
    pub call_id: Option<String>,
    /// The question.
    pub question: Value,
}

/// A change of an approval, to be stored with a [`Commit`](super::Commit).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ApprovalChange {
    /// A question is asked.
    Ask(NewApproval),
    /// A person answers. See [`SessionWriter::answer`](super::SessionWriter::answer), with which other processes answer.
    #[non_exhaustive]
    Answer {
        /// The id of the question.
        id: String,
        /// The answer.
        answer: Value,
        /// The person who answers.
        by: Actor,
    },
    /// The answer is not needed any more.
    #[non_exhaustive]
    Withdraw {
        /// The id of the question.
        id: String,
    },
}

impl ApprovalStatus {
    /// All statuses.
    pub const ALL: [Self; 3] = [Self::Open, Self::Answered, Self::Withdrawn];

    /// Returns the name under which stores keep the status.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Returns the status with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

impl NewApproval {
    /// Creates a question of a run.
    pub fn new(id: impl Into<String>, run: impl Into<String>, question: Value) -> Self {
        Self {
            id: id.into(),
            run: run.into(),
            call_id: None,
            question,
        }
    }

    /// Sets the tool call that waits.
    #[must_use]
    pub fn with_call(mut self, call_id: impl Into<String>) -> Self {
        self.call_id = Some(call_id.into());
        self
    }

    /// Returns the approval as it is after the question was asked in this session.
    pub fn ask(self, session: impl Into<String>, now: Timestamp) -> Approval {
        Approval {
            id: self.id,
            session: session.into(),
            run: self.run,
            call_id: self.call_id,
            question: self.question,
            status: ApprovalStatus::Open,
            answer: None,
            answered_by: None,
            asked_at: now,
            closed_at: None,
        }
    }
}

impl ApprovalChange {
    /// Creates an answer.
    pub fn answer(id: impl Into<String>, answer: Value, by: Actor) -> Self {
        Self::Answer {
            id: id.into(),
            answer,
            by,
        }
    }

    /// Creates a withdrawal.
    pub fn withdraw(id: impl Into<String>) -> Self {
        Self::Withdraw { id: id.into() }
    }

    /// Returns the id of the question.
    pub fn id(&self) -> &str {
        match self {
            Self::Ask(new) => &new.id,
            Self::Answer { id, .. } | Self::Withdraw { id } => id,
        }
    }

    /// Checks that every store can keep the change.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if an id or the person is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        id::check_named("the id of the question", self.id())?;
        match self {
            Self::Ask(new) => {
                id::check_named("the id of the run", &new.run)?;
                let call = new.call_id.as_deref();
                call.map_or(Ok(()), |call| Ok(id::check_named("the id of the call", call)?))
            }
            Self::Answer { by, .. } => Ok(by.check()?),
            Self::Withdraw { .. } => Ok(()),
        }
    }

    /// Returns the approval as it is stored: a new one, or the known one after the change. Giving the same answer again, and
    /// withdrawing again, changes nothing. A question is not closed before it was asked, even if the clock goes backwards.
    ///
    /// # Errors
    /// [`InvalidState`](crate::SessionErrorKind::InvalidState) if the id was used before, or the question is closed already;
    /// [`NotFound`](crate::SessionErrorKind::NotFound) if there is no such question.
    pub fn apply(self, session: &str, known: Option<Approval>, now: Timestamp) -> Result<Approval, SessionError> {
        use ApprovalStatus::{Answered, Open, Withdrawn};
        let refuse = |id: &str, reason: &str| Err(SessionError::invalid_state(format!("the question `{id}` {reason}")));
        let known = match (&self, known) {
            (Self::Ask(new), Some(_)) => return refuse(&new.id, "was asked already"),
            (_, known) => known,
        };
        match (self, known) {
            (Self::Ask(new), _) => Ok(new.ask(session, now)),
            (Self::Answer { id, .. } | Self::Withdraw { id }, None) => Err(SessionError::not_found(format!(
                "there is no question `{id}` in this session"
            ))),
            (Self::Answer { answer, by, .. }, Some(known)) => match known.status {
                Open => Ok(Approval {
                    status: Answered,
                    answer: Some(answer),
                    answered_by: Some(by),
                    closed_at: Some(now.max(known.asked_at)),
                    ..known
                }),
                Answered if known.answer.as_ref() == Some(&answer) => Ok(known),
                Answered => refuse(&known.id, "has another answer already"),
                Withdrawn => refuse(&known.id, "was withdrawn"),
            },
            (Self::Withdraw { .. }, Some(known)) => match known.status {
                Open => Ok(Approval {
                    status: Withdrawn,
                    closed_at: Some(now.max(known.asked_at)),
                    ..known
                }),
                Withdrawn => Ok(known),
                Answered => refuse(&known.id, "was answered already"),
            },
        }
    }
}
