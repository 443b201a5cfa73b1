//! [`Beginning`]: where a call begins, anew or after its question was answered; [`Saved`]: what a question keeps for that.

use agcore_chat::{Answer, ApprovalScope, Question, QuestionKind, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    arguments::Arguments,
    context::InputAnswer,
    error::{ToolError, ToolErrorKind},
};

/// The version of what a question keeps.
const VERSION: u32 = 1;

/// What a question keeps for the call to go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saved {
    version: u32,
    /// The number of the question.
    pub(crate) number: u32,
    /// The arguments that the question was about.
    pub(crate) arguments: Arguments,
    /// Whether a person had said yes to the call before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) approved: bool,
    /// What the tool put beside its question.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) context: Value,
}

impl Saved {
    pub(crate) fn new(number: u32, arguments: Arguments, approved: bool, context: Value) -> Self {
        Self {
            version: VERSION,
            number,
            arguments,
            approved,
            context,
        }
    }

    /// As the state of a question.
    pub(crate) fn into_state(self) -> Value {
        // Plain data with string keys: writing it cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }

    fn read(state: &Value) -> Result<Self, ToolError> {
        match state.get("version").and_then(Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => {
                let why = format!("it is of version {version}, this program knows {VERSION}");
                return Err(unreadable(&why));
            }
            None => return Err(unreadable("it has no version")),
        }
        Self::deserialize(state).map_err(|error| unreadable(&error.to_string()))
    }
}

fn unreadable(why: &str) -> ToolError {
    let message =
        format!("what the question kept for its call cannot be read: {why}; ask the model to call the tool anew");
    ToolError::new(ToolErrorKind::Config, message)
}

/// How a call begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Beginning {
    /// The arguments, not yet checked.
    pub(super) arguments: Arguments,
    /// Whether they are not the model's own.
    pub(super) edited: bool,
    /// A person's yes that it brings along.
    pub(super) yes: Option<ApprovalScope>,
    /// The answer to the tool's own question, and the question.
    pub(super) answer: Option<Box<(InputAnswer, Question)>>,
    /// The number of its next question.
    pub(super) number: u32,
}

impl Beginning {
    /// Reads a call and, when it is resumed, its question and answer.
    ///
    /// # Errors
    /// The arguments cannot be used; the person said no; question and answer do not belong to each other.
    pub(super) fn read(call: &ToolCall, resumed: Option<Box<(Question, Answer)>>) -> Result<Self, ToolError> {
        let Some(resumed) = resumed else {
            return Self::fresh(call);
        };
        let (question, answer) = *resumed;
        if *question.call_id != *call.id {
            let message = format!(
                "the answered question is of call {}, not of call {}",
                question.call_id, call.id
            );
            return Err(ToolError::new(ToolErrorKind::Config, message));
        }
        if let Answer::Deny { message } = &answer {
            return Err(ToolError::denied_by_person(&call.name, message));
        }
        match (question.kind, answer) {
            (QuestionKind::Approval, Answer::Approve { arguments, scope }) => {
                let saved = Saved::read(&question.state)?;
                let edited = arguments.is_some();
                let arguments = arguments.map_or(saved.arguments, Arguments::from);
                Ok(Self {
                    arguments,
                    edited,
                    yes: Some(scope),
                    answer: None,
                    number: saved.number + 1,
                })
            }
            (QuestionKind::Input, Answer::Value(value)) => {
                let saved = Saved::read(&question.state)?;
                Ok(Self {
                    arguments: saved.arguments,
                    edited: false,
                    yes: saved.approved.then_some(ApprovalScope::Once),
                    number: saved.number + 1,
                    answer: Some(Box::new((InputAnswer::new(value, saved.context), question))),
                })
            }
            // It is not known whether the call ran, and a person says that it shall run again: it begins anew.
            (QuestionKind::Uncertain, Answer::Approve { .. }) => Self::fresh(call),
            _ => Err(ToolError::denied_by_person(
                &call.name,
                "the answer does not fit the question, which counts as a no",
            )),
        }
    }

    fn fresh(call: &ToolCall) -> Result<Self, ToolError> {
        Ok(Self {
            arguments: Arguments::of(call)?,
            edited: false,
            yes: None,
            answer: None,
            number: 0,
        })
    }
}
