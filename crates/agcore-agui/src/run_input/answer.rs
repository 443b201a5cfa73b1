//! [`ResumeEntry`]: the answer to an interrupt.

use std::fmt;

use agcore_chat::{Answer, ApprovalScope, QuestionKind};
use serde_json::Value;

/// Whether an interrupt was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResumeStatus {
    /// It was answered; the payload is the answer.
    Resolved,
    /// The person declined to answer.
    Cancelled,
}

/// The answer to one [`Interrupt`](crate::Interrupt).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResumeEntry {
    /// The id of the interrupt.
    pub interrupt_id: String,
    /// Whether it was answered.
    pub status: ResumeStatus,
    /// The answer.
    pub payload: Option<Value>,
}

impl ResumeEntry {
    /// Creates an answer.
    pub fn resolved(interrupt_id: impl Into<String>, payload: Value) -> Self {
        Self {
            interrupt_id: interrupt_id.into(),
            status: ResumeStatus::Resolved,
            payload: Some(payload),
        }
    }

    /// Creates the answer of a person who declines.
    pub fn cancelled(interrupt_id: impl Into<String>) -> Self {
        Self {
            interrupt_id: interrupt_id.into(),
            status: ResumeStatus::Cancelled,
            payload: None,
        }
    }

    /// Returns the answer for a question of this kind. Nothing is ever approved without an explicit yes.
    ///
    /// Approvals, and questions whether a call runs again, accept `true`, `false`, or an object with `approved` and, optionally,
    /// `message`, `scope` (`once`, `session`, `always`) and `arguments` (also `editedArgs`). Questions for input accept anything,
    /// and so do calls of tools of the front end, as [`ClientResult::from_value`](agcore_chat::ClientResult::from_value) describes.
    ///
    /// # Errors
    /// When the payload does not fit.
    ///
    /// ```
    /// use agcore_agui::ResumeEntry;
    /// use agcore_chat::{Answer, QuestionKind};
    /// use serde_json::json;
    ///
    /// let entry = ResumeEntry::resolved("call_1?0", json!({"approved": false, "message": "not today"}));
    /// assert_eq!(entry.to_answer(QuestionKind::Approval)?, Answer::deny("not today"));
    /// assert!(ResumeEntry::resolved("call_1?0", json!("yes")).to_answer(QuestionKind::Approval).is_err());
    /// # Ok::<(), agcore_agui::AnswerError>(())
    /// ```
    pub fn to_answer(&self, kind: QuestionKind) -> Result<Answer, AnswerError> {
        if self.status == ResumeStatus::Cancelled {
            return Ok(Answer::deny(DECLINED));
        }
        let error = |rule| AnswerError {
            interrupt_id: self.interrupt_id.clone(),
            rule,
        };
        let payload = self.payload.as_ref();
        if matches!(kind, QuestionKind::Input | QuestionKind::Client) {
            let value = payload.ok_or_else(|| error("must have a payload"))?;
            return Ok(Answer::Value(value.clone()));
        }
        match payload {
            Some(Value::Bool(true)) => Ok(Answer::approve()),
            Some(Value::Bool(false)) => Ok(Answer::deny(DENIED)),
            Some(Value::Object(members)) => {
                let member = |name: &str| members.get(name).filter(|value| !value.is_null());
                match member("approved").and_then(Value::as_bool) {
                    None => Err(error("must have the member `approved` with true or false")),
                    Some(false) => {
                        let message = member("message").and_then(Value::as_str);
                        Ok(Answer::deny(message.unwrap_or(DENIED)))
                    }
                    Some(true) => {
                        let scope = match member("scope").map(Value::as_str) {
                            None | Some(Some("once")) => ApprovalScope::Once,
                            Some(Some("session")) => ApprovalScope::Session,
                            Some(Some("always")) => ApprovalScope::Always,
                            Some(_) => return Err(error("must have the scope once, session or always")),
                        };
                        let answer = match member("arguments").or_else(|| member("editedArgs")) {
                            None => Answer::approve(),
                            Some(Value::Object(arguments)) => Answer::edited(arguments.clone()),
                            Some(_) => return Err(error("must have an object as `arguments`")),
                        };
                        Ok(answer.with_scope(scope))
                    }
                }
            }
            _ => Err(error(
                "must have true, false or an object with `approved` as its payload",
            )),
        }
    }
}

const DECLINED: &str = "the person declined to answer";
const DENIED: &str = "the person denied the call";

/// An answer that does not fit its question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerError {
    interrupt_id: String,
    rule: &'static str,
}

impl AnswerError {
    /// Returns the id of the interrupt.
    pub fn interrupt_id(&self) -> &str {
        &self.interrupt_id
    }
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the answer to the interrupt {:?} is refused: it {}",
            self.interrupt_id, self.rule
        )
    }
}

impl std::error::Error for AnswerError {}
