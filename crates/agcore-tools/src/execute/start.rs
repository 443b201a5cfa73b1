//! [`CallStart`]: where a call starts, from scratch or after its question was answered; [`SavedCall`]: the state that a
//! question keeps for that.

use agcore_chat::{Answer, ApprovalScope, Question, QuestionKind, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    arguments::Arguments,
    context::InputAnswer,
    error::{ToolError, ToolErrorKind},
};

/// The version of the JSON form of a saved call.
const VERSION: u32 = 1;

/// The state that a question keeps so that its call can resume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedCall {
    version: u32,
    /// The number of the question.
    number: u32,
    /// The arguments that the question was about.
    arguments: Arguments,
    /// Whether a person has already approved the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    approved: bool,
    /// The context that the tool attached to its question.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    context: Value,
}

impl SavedCall {
    pub(super) fn new(number: u32, arguments: Arguments, approved: bool, context: Value) -> Self {
        Self {
            version: VERSION,
            number,
            arguments,
            approved,
            context,
        }
    }

    /// Converts the state into that of a question.
    pub(super) fn into_state(self) -> Value {
        // Serializing plain data with string keys cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }

    fn read(state: &Value) -> Result<Self, ToolError> {
        match state.get("version").and_then(Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => {
                let reason = format!("it has version {version}, but this program reads version {VERSION}");
                return Err(unreadable(&reason));
            }
            None => return Err(unreadable("it has no version")),
        }
        Self::deserialize(state).map_err(|error| unreadable(&error.to_string()))
    }
}

fn unreadable(reason: &str) -> ToolError {
    let message = format!("cannot read the saved state of the question: {reason}; let the model call the tool again");
    ToolError::new(ToolErrorKind::Config, message)
}

/// The state in which a call starts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallStart {
    /// The arguments, not yet validated.
    pub(super) arguments: Arguments,
    /// Whether a person edited the arguments.
    pub(super) edited: bool,
    /// The approval that a person has already given, if any.
    pub(super) approval: Option<ApprovalScope>,
    /// The answer to the tool's own question, together with the question.
    pub(super) answer: Option<Box<(InputAnswer, Question)>>,
    /// The number of the call's next question.
    pub(super) next_question: u32,
}

impl CallStart {
    /// Determines where a call starts from the call and, when it resumes, its question and the answer.
    ///
    /// # Errors
    /// When the arguments are invalid, the person denied the call, or the answer does not match the question.
    pub(super) fn new(call: &ToolCall, resumed: Option<Box<(Question, Answer)>>) -> Result<Self, ToolError> {
        let Some(resumed) = resumed else {
            return Self::from_scratch(call);
        };
        let (question, answer) = *resumed;
        if *question.call_id != *call.id {
            let message = format!(
                "the answered question belongs to call {}, not to call {}",
                question.call_id, call.id
            );
            return Err(ToolError::new(ToolErrorKind::Config, message));
        }
        if let Answer::Deny { message } = &answer {
            return Err(ToolError::denied_by_person(&call.name, message));
        }
        match (question.kind, answer) {
            (QuestionKind::Approval, Answer::Approve { arguments, scope }) => {
                let saved = SavedCall::read(&question.state)?;
                let edited = arguments.is_some();
                let arguments = arguments.map_or(saved.arguments, Arguments::from);
                Ok(Self {
                    arguments,
                    edited,
                    approval: Some(scope),
                    answer: None,
                    next_question: saved.number + 1,
                })
            }
            (QuestionKind::Input, Answer::Value(value)) => {
                let saved = SavedCall::read(&question.state)?;
                Ok(Self {
                    arguments: saved.arguments,
                    edited: false,
                    approval: saved.approved.then_some(ApprovalScope::Once),
                    next_question: saved.number + 1,
                    answer: Some(Box::new((InputAnswer::new(value, saved.context), question))),
                })
            }
            // It is unknown whether the call ran, and a person has decided that it should run again.
            (QuestionKind::Uncertain, Answer::Approve { .. }) => Self::from_scratch(call),
            _ => Err(ToolError::denied_by_person(
                &call.name,
                "the answer does not match the question, so it counts as a denial",
            )),
        }
    }

    fn from_scratch(call: &ToolCall) -> Result<Self, ToolError> {
        Ok(Self {
            arguments: Arguments::from_call(call)?,
            edited: false,
            approval: None,
            answer: None,
            next_question: 0,
        })
    }
}
