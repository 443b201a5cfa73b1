//! [`Question`]: a question that a tool call asks, and its [`Answer`].

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{small_text::Text, tool::annotations::ToolAnnotations};

/// The id of a question. The agent loop never uses an id twice, so an answer never fits another call, even after the
/// history was replaced, or in a copy of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(pub Text);

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<T: Into<Text>> From<T> for QuestionId {
    fn from(id: T) -> Self {
        Self(id.into())
    }
}

/// A question that a call needs answered before it can continue.
///
/// ```
/// use agcore_chat::{Question, QuestionKind};
/// use serde_json::json;
///
/// let question = Question::new("call_1", 0, QuestionKind::Input, "How many?").with_schema(json!({"type": "integer"}));
/// assert_eq!(question.id, "call_1?0".into());
///
/// let question = Question::new("call_2", 0, QuestionKind::Approval, "May mail.send run?")
///     .with_tool("mail.send")
///     .with_arguments(json!({"to": "ann@example.com"}))
///     .with_reason("the rule `ask mail.*`");
/// assert_eq!(question.arguments["to"], "ann@example.com");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// The id, which the answer refers to.
    pub id: QuestionId,
    /// The id of the call that asks.
    pub call_id: Text,
    /// The kind of answer that is needed.
    pub kind: QuestionKind,
    /// The text of the question, for a person. It may shorten the arguments: a user interface for approvals shows
    /// [`arguments`](Self::arguments).
    pub prompt: String,
    /// The name of the tool that the call is for; empty if unknown.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub tool: Text,
    /// The complete arguments with which the call runs if it is approved: a JSON object, or the text of a custom call.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub arguments: Value,
    /// How the tool behaves, as declared by its author.
    #[serde(default, skip_serializing_if = "ToolAnnotations::is_empty")]
    pub annotations: ToolAnnotations,
    /// Why the question is asked: the rule, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The JSON Schema of the answer's value, if it must have a certain form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The state that the asker needs to continue; opaque to everyone else.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub state: Value,
}

impl Question {
    /// Creates a question of a call. Its id consists of the call's id and `number`, which must be different for each
    /// question of that call.
    pub fn new(call_id: impl Into<Text>, number: u32, kind: QuestionKind, prompt: impl Into<String>) -> Self {
        let call_id = call_id.into();
        Self {
            id: QuestionId(format!("{call_id}?{number}").into()),
            call_id,
            kind,
            prompt: prompt.into(),
            tool: Text::EMPTY,
            arguments: Value::Null,
            annotations: ToolAnnotations::default(),
            reason: String::new(),
            schema: None,
            state: Value::Null,
        }
    }

    /// Sets the name of the tool.
    #[must_use]
    pub fn with_tool(mut self, tool: impl Into<Text>) -> Self {
        self.tool = tool.into();
        self
    }

    /// Sets the complete arguments of the call.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Value) -> Self {
        self.arguments = arguments;
        self
    }

    /// Sets the annotations of the tool.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Sets the reason, in words.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// Sets the JSON Schema of the answer's value.
    #[must_use]
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Sets the state that the asker needs to continue.
    #[must_use]
    pub fn with_state(mut self, state: Value) -> Self {
        self.state = state;
        self
    }
}

fn is_empty(text: &Text) -> bool {
    text.is_empty()
}

/// The kind of answer that a question needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuestionKind {
    /// May this call run?
    Approval,
    /// The tool needs input from a person or another agent.
    Input,
    /// It is unknown whether this call completed before the process died. Should it run again?
    Uncertain,
    /// The client that has offered the tool runs the call, and answers with the result.
    Client,
}

/// The answer to a question.
///
/// ```
/// use agcore_chat::Answer;
/// use serde_json::json;
///
/// assert_eq!(serde_json::to_value(Answer::approve())?, json!({"approve": {"scope": "once"}}));
/// assert_eq!(serde_json::to_value(Answer::deny("too risky"))?, json!({"deny": {"message": "too risky"}}));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// The call may run, optionally with other arguments, which are validated like those of the model.
    Approve {
        /// Arguments that replace those of the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<serde_json::Map<String, Value>>,
        /// How long the approval is valid.
        #[serde(default)]
        scope: ApprovalScope,
        /// The calls that the approval covers if it is valid for longer, in the form of the executor; that of
        /// agcore-tools is a `Grant`. Without one, the executor remembers a narrow default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<Value>,
        /// The name of the approver, for audit logs. The application vouches for the name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approver: Option<Text>,
    },
    /// The call may not run.
    Deny {
        /// The reason, which is sent to the model.
        message: String,
        /// The name of the approver, for audit logs. The application vouches for the name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approver: Option<Text>,
    },
    /// The input that was asked for.
    Value(Value),
}

impl Answer {
    /// Creates an approval of a single call, with the arguments of the model.
    pub fn approve() -> Self {
        Self::Approve {
            arguments: None,
            scope: ApprovalScope::Once,
            grant: None,
            approver: None,
        }
    }

    /// Creates an approval of a single call, with other arguments than those of the model.
    pub fn edited(arguments: serde_json::Map<String, Value>) -> Self {
        Self::Approve {
            arguments: Some(arguments),
            scope: ApprovalScope::Once,
            grant: None,
            approver: None,
        }
    }

    /// Creates a denial with a reason for the model.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny {
            message: message.into(),
            approver: None,
        }
    }

    /// Sets how long an approval is valid.
    ///
    /// ```
    /// use agcore_chat::{Answer, ApprovalScope};
    /// use serde_json::json;
    ///
    /// let answer = Answer::approve().with_scope(ApprovalScope::Session).with_approver("ann");
    /// assert_eq!(serde_json::to_value(answer)?, json!({"approve": {"scope": "session", "approver": "ann"}}));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn with_scope(mut self, period: ApprovalScope) -> Self {
        if let Self::Approve { scope, .. } = &mut self {
            *scope = period;
        }
        self
    }

    /// Sets the calls that an approval covers if it is valid for longer.
    #[must_use]
    pub fn with_grant(mut self, calls: Value) -> Self {
        if let Self::Approve { grant, .. } = &mut self {
            *grant = Some(calls);
        }
        self
    }

    /// Sets who approved or denied the call.
    #[must_use]
    pub fn with_approver(mut self, name: impl Into<Text>) -> Self {
        if let Self::Approve { approver, .. } | Self::Deny { approver, .. } = &mut self {
            *approver = Some(name.into());
        }
        self
    }
}

/// The period for which an approval is valid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalScope {
    /// For this call only.
    #[default]
    Once,
    /// For the rest of the session.
    Session,
    /// Permanently.
    Always,
}
