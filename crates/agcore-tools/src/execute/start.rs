//! [`CallStart`]: where a call starts, from scratch or after its question was answered; [`SavedCall`]: the state that a
//! question keeps for that.

use agcore_chat::{Answer, ApprovalScope, Question, QuestionKind, Text, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    arguments::Arguments,
    context::InputAnswer,
    error::{ToolError, ToolErrorKind},
    grants::Grant,
    permission::same_value,
    registry::RegisteredTool,
};

/// The version of the JSON form of a saved call.
const VERSION: u32 = 1;

/// The reason why an answer does not count.
const OTHER_CALL: &str = "the answer was given for another tool or for other arguments, so it counts as a denial";

/// The state that a question keeps so that its call can resume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedCall {
    version: u32,
    /// The number of the question.
    number: u32,
    /// The arguments that the question was about.
    arguments: Arguments,
    /// The arguments of the call itself, if a person had edited them before the question was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_arguments: Option<Arguments>,
    /// Whether a person has already approved the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    approved: bool,
    /// The context that the tool attached to its question.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    context: Value,
    /// The call that the question is about, if the tool has passed on the question of a call that it runs itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    forwarded: Option<Forwarded>,
}

/// A call that a tool runs itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Forwarded {
    tool: Text,
    arguments: Value,
}

impl SavedCall {
    pub(super) fn new(number: u32, call: &ToolCall, arguments: Arguments, approved: bool, context: Value) -> Self {
        let own_arguments = Arguments::from_call(call).ok().filter(|own| *own != arguments);
        Self {
            version: VERSION,
            number,
            arguments,
            own_arguments,
            approved,
            context,
            forwarded: None,
        }
    }

    /// Notes that the question is that of a call which the tool runs itself.
    pub(super) fn forwarding(mut self, inner: &Question) -> Self {
        self.forwarded = Some(Forwarded {
            tool: inner.tool.clone(),
            arguments: inner.arguments.clone(),
        });
        self
    }

    /// Reads the state of a question that a tool has passed on, and checks that the question is about the call that it was asked
    /// about, and was passed on by this call. Returns `None` for other questions.
    fn forwarded(question: &Question, call: &ToolCall, tool: &str) -> Option<Result<Self, ToolError>> {
        question.state.get("forwarded")?;
        let saved = match Self::read(&question.state) {
            Ok(saved) => saved,
            Err(error) => return Some(Err(error)),
        };
        let inner = saved.forwarded.as_ref()?;
        let is_same = question.tool == inner.tool && same_value(&question.arguments, &inner.arguments);
        Some(if is_same && saved.is_of(call) {
            Ok(saved)
        } else {
            Err(ToolError::denied_by_person(tool, OTHER_CALL))
        })
    }

    /// Returns whether this is the state of a call.
    fn is_of(&self, call: &ToolCall) -> bool {
        let own = self.own_arguments.as_ref().unwrap_or(&self.arguments).as_value();
        Arguments::from_call(call).is_ok_and(|arguments| same_value(arguments.as_value(), own))
    }

    /// Reads the state of a question, and checks that the question is about this state and about this call.
    fn for_call(question: &Question, call: &ToolCall, tool: &str) -> Result<Self, ToolError> {
        let saved = Self::read(&question.state)?;
        // A person has decided on the arguments of the question: no others may run.
        if !question.arguments.is_null() && !same_value(&question.arguments, saved.arguments.as_value()) {
            let reason = "the arguments of the question are not those of its saved state";
            return Err(ToolError::new(ToolErrorKind::Config, reason));
        }
        if (question.tool.is_empty() || *question.tool == *tool) && saved.is_of(call) {
            return Ok(saved);
        }
        Err(ToolError::denied_by_person(tool, OTHER_CALL))
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
    /// The answer of a person. `None` for a call that runs for the first time.
    pub(super) resumed: Option<Box<Resumed>>,
    /// The number of the call's next question.
    pub(super) next_question: u32,
}

/// The answer of a person to a question of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Resumed {
    /// The question that was answered.
    pub(super) question: Question,
    /// Whether the answer edited the arguments.
    pub(super) edited: bool,
    /// Whether the arguments differ from those of the call.
    pub(super) changed: bool,
    pub(super) decision: Option<PersonDecision>,
    /// The answer to the tool's own question.
    pub(super) answer: Option<InputAnswer>,
}

/// The decision of a person about a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PersonDecision {
    Approved {
        scope: ApprovalScope,
        grant: Option<Grant>,
        approver: Option<Text>,
    },
    Denied {
        message: String,
        approver: Option<Text>,
    },
}

impl CallStart {
    /// Determines where a call of `tool` starts from the call and, when it resumes, its question and the answer.
    ///
    /// # Errors
    /// When the arguments are unreadable, or the answer does not match the question, or the question the call.
    pub(super) fn new(
        call: &ToolCall,
        tool: &str,
        resumed: Option<Box<(Question, Answer)>>,
    ) -> Result<Self, ToolError> {
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
        if let Some(saved) = SavedCall::forwarded(&question, call, tool) {
            return Ok(saved?.start_with_answer(question, &answer));
        }
        match (question.kind, answer) {
            (_, Answer::Deny { message, approver }) => {
                let denied = PersonDecision::Denied { message, approver };
                let arguments = Arguments::from_call(call).unwrap_or_default();
                Ok(Self::resumed(arguments, Resumed::with_decision(question, denied)))
            }
            (
                QuestionKind::Approval,
                Answer::Approve {
                    arguments,
                    scope,
                    grant,
                    approver,
                },
            ) => {
                let saved = SavedCall::for_call(&question, call, tool)?;
                let (scope, grant) = readable_grant(scope, grant);
                let approved = PersonDecision::Approved { scope, grant, approver };
                Ok(saved.start(Resumed::with_decision(question, approved), arguments))
            }
            (QuestionKind::Input | QuestionKind::Client, Answer::Value(value)) => {
                let saved = SavedCall::for_call(&question, call, tool)?;
                Ok(saved.start_with_input(question, value))
            }
            (
                QuestionKind::Uncertain,
                Answer::Approve {
                    arguments, approver, ..
                },
            ) => Self::again(call, tool, question, arguments, approver),
            _ => Err(ToolError::denied_by_person(
                tool,
                "the answer does not match the question, so it counts as a denial",
            )),
        }
    }

    /// Checks that the result of a client reaches a tool of the client.
    ///
    /// # Errors
    /// When the name is that of another tool by now.
    pub(super) fn check_client(&self, tool: &RegisteredTool) -> Result<(), ToolError> {
        let question = self.resumed.as_ref().map(|resumed| &resumed.question);
        let is_result = question
            .is_some_and(|question| question.kind == QuestionKind::Client && question.state.get("forwarded").is_none());
        match is_result && !tool.tool().is_run_by_client() {
            true => Err(ToolError::failed(format!(
                "the client has run `{}`, which is a tool of the server by now; call it again if it is needed",
                tool.name()
            ))),
            false => Ok(()),
        }
    }

    /// Starts a call again that may have run before. A person who was shown it has decided that, so there is no second
    /// question; an answer to a question about another call approves nothing.
    fn again(
        call: &ToolCall,
        tool: &str,
        question: Question,
        edited: Option<Map<String, Value>>,
        approver: Option<Text>,
    ) -> Result<Self, ToolError> {
        let own = Arguments::from_call(call)?;
        let is_shown = *question.tool == *tool && same_value(&question.arguments, own.as_value());
        let approved = PersonDecision::Approved {
            scope: ApprovalScope::Once,
            grant: None,
            approver,
        };
        let is_edited = edited.is_some();
        let resumed = Resumed {
            edited: is_edited,
            changed: is_edited,
            decision: (is_shown || is_edited).then_some(approved),
            ..Resumed::new(question)
        };
        Ok(Self::resumed(edited.map_or(own, Arguments::from), resumed))
    }

    fn resumed(arguments: Arguments, resumed: Resumed) -> Self {
        Self {
            arguments,
            resumed: Some(Box::new(resumed)),
            next_question: 0,
        }
    }

    fn from_scratch(call: &ToolCall) -> Result<Self, ToolError> {
        Ok(Self {
            arguments: Arguments::from_call(call)?,
            resumed: None,
            next_question: 0,
        })
    }
}

impl SavedCall {
    /// Continues the call with the answer to the tool's own question.
    fn start_with_input(mut self, question: Question, value: Value) -> CallStart {
        let approved = PersonDecision::Approved {
            scope: ApprovalScope::Once,
            grant: None,
            approver: None,
        };
        let resumed = Resumed {
            decision: self.approved.then_some(approved),
            answer: Some(InputAnswer::new(value, std::mem::take(&mut self.context))),
            ..Resumed::new(question)
        };
        self.start(resumed, None)
    }

    /// Continues the call with the answer to a question that the tool has passed on: whatever was decided is about the inner call.
    fn start_with_answer(self, question: Question, answer: &Answer) -> CallStart {
        let value = serde_json::to_value(answer).unwrap_or_default();
        self.start_with_input(question, value)
    }

    /// Continues the call, with other arguments if they were edited.
    fn start(self, mut resumed: Resumed, edited: Option<Map<String, Value>>) -> CallStart {
        resumed.edited = edited.is_some();
        resumed.changed = resumed.edited || self.own_arguments.is_some();
        CallStart {
            arguments: edited.map_or(self.arguments, Arguments::from),
            resumed: Some(Box::new(resumed)),
            next_question: self.number + 1,
        }
    }
}

impl Resumed {
    fn new(question: Question) -> Self {
        Self {
            question,
            edited: false,
            changed: false,
            decision: None,
            answer: None,
        }
    }

    fn with_decision(question: Question, decision: PersonDecision) -> Self {
        Self {
            decision: Some(decision),
            ..Self::new(question)
        }
    }
}

/// Reads the grant of an answer. One that cannot be read is not remembered: the answer covers this call only.
fn readable_grant(scope: ApprovalScope, grant: Option<Value>) -> (ApprovalScope, Option<Grant>) {
    match grant.map(serde_json::from_value).transpose() {
        Ok(grant) => (scope, grant),
        Err(error) => {
            tracing::warn!(%error, "the grant of an answer cannot be read; the answer covers this call only");
            (ApprovalScope::Once, None)
        }
    }
}
