//! [`ToolExecutor`]: how the cycle runs tools without knowing any registry.

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

use futures_core::Stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{content::Content, fault::Fault, text::Text, tool::Tool, tool_call::ToolCall};

/// Runs the tool calls of a model's reply.
pub trait ToolExecutor: Send + Sync {
    /// The tools the model is told of: one snapshot, in a stable order, the same at every call.
    fn definitions(&self) -> Arc<[Tool]>;

    /// Starts all of `work` and reports as things happen: any number of [`ToolReport::Progress`], and exactly one
    /// [`ToolReport::Settled`] for each call, as each ends. The stream ends after the last of them.
    ///
    /// The executor decides what runs side by side and enforces its own timeouts. A call of a tool that is not among
    /// [`definitions`](Self::definitions) settles as an error result. Dropping the stream cancels what still runs.
    fn execute(&self, work: Vec<ToolWork>) -> ToolReports;
}

/// The reports of one batch of calls.
pub type ToolReports = Pin<Box<dyn Stream<Item = ToolReport> + Send>>;

/// One call to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolWork {
    /// The call, as the model wrote it.
    pub call: Arc<ToolCall>,
    /// When the call asked a question before: that question and its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<Box<(Question, Answer)>>,
}

impl ToolWork {
    /// A call that runs for the first time.
    pub fn new(call: impl Into<Arc<ToolCall>>) -> Self {
        Self {
            call: call.into(),
            resumed: None,
        }
    }

    /// A call that goes on after its question was answered.
    pub fn resumed(call: impl Into<Arc<ToolCall>>, question: Question, answer: Answer) -> Self {
        Self {
            call: call.into(),
            resumed: Some(Box::new((question, answer))),
        }
    }
}

/// What an executor tells while calls run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolReport {
    /// A running call tells how far it is.
    Progress {
        /// The call's id.
        call_id: Text,
        /// What it tells.
        progress: Progress,
    },
    /// A call has ended.
    Settled {
        /// The call's id.
        call_id: Text,
        /// How it ended.
        outcome: ToolOutcome,
        /// How long it ran, waiting for a person not counted.
        duration: Duration,
    },
}

/// How far a running call is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done, in the tool's own unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<f64>,
    /// How much there is to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What it is at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
    /// A part of the output that is ready before the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Value>,
}

impl Progress {
    /// Progress in words.
    pub fn message(message: impl Into<Text>) -> Self {
        Self {
            message: Some(message.into()),
            ..Self::default()
        }
    }

    /// Progress in numbers.
    pub fn of(done: f64, total: Option<f64>) -> Self {
        Self {
            done: Some(done),
            total,
            ..Self::default()
        }
    }

    /// A part of the output.
    pub fn part(part: Value) -> Self {
        Self {
            part: Some(part),
            ..Self::default()
        }
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolOutcome {
    /// It has a result for the model, good or bad.
    Done(ToolResult),
    /// It cannot go on before a question is answered.
    Ask(Question),
    /// It ends the turn: another agent takes over.
    Divert {
        /// What the model would have been told, for the history.
        content: Content,
        /// What the layer above needs to know.
        data: Value,
    },
    /// It failed in a way that ends the turn.
    Fatal(Fault),
}

impl ToolOutcome {
    /// A good result.
    pub fn done(content: impl Into<Content>) -> Self {
        Self::Done(ToolResult::new(content))
    }

    /// A bad result, told to the model.
    pub fn error(content: impl Into<Content>) -> Self {
        Self::Done(ToolResult::error(content))
    }
}

/// The result of a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// What the model is given back.
    pub content: Content,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// For observers only, never sent to a model: display hints, metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<Box<Value>>,
}

impl ToolResult {
    /// A good result.
    pub fn new(content: impl Into<Content>) -> Self {
        Self {
            content: content.into(),
            is_error: false,
            display: None,
        }
    }

    /// A bad result, told to the model.
    pub fn error(content: impl Into<Content>) -> Self {
        Self {
            content: content.into(),
            is_error: true,
            display: None,
        }
    }

    /// Adds something for observers only.
    pub fn with_display(mut self, display: Value) -> Self {
        self.display = Some(Box::new(display));
        self
    }
}

/// Names one question for good; unique within a session.
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

/// What a call needs to know before it goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// Its id; the answer names it.
    pub id: QuestionId,
    /// The call that asks.
    pub call_id: Text,
    /// What it is about.
    pub kind: QuestionKind,
    /// The question, for the person.
    pub prompt: String,
    /// JSON Schema of the answer's value, where it has a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// What the asker needs to go on; opaque to everybody else.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub state: Value,
}

impl Question {
    /// A question of a call. Its id is the call's id and a number that is new for each question of that call.
    pub fn new(call_id: impl Into<Text>, number: u32, kind: QuestionKind, prompt: impl Into<String>) -> Self {
        let call_id = call_id.into();
        Self {
            id: QuestionId(format!("{call_id}?{number}").into()),
            call_id,
            kind,
            prompt: prompt.into(),
            schema: None,
            state: Value::Null,
        }
    }

    /// Adds a JSON Schema of the answer's value.
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Adds what the asker needs to go on.
    pub fn with_state(mut self, state: Value) -> Self {
        self.state = state;
        self
    }
}

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuestionKind {
    /// May this call run?
    Approval,
    /// The tool needs input of a person or another agent.
    Input,
    /// It is not known whether this call ran before the process died; run it again?
    Uncertain,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// Yes; with other arguments, where given. They are checked like any others.
    Approve {
        /// Arguments that replace the model's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<serde_json::Map<String, Value>>,
        /// How long this holds.
        #[serde(default)]
        scope: ApprovalScope,
    },
    /// No; the model is told why.
    Deny {
        /// For the model.
        message: String,
    },
    /// The input that was asked for.
    Value(Value),
}

impl Answer {
    /// Yes, this once.
    pub fn approve() -> Self {
        Self::Approve {
            arguments: None,
            scope: ApprovalScope::Once,
        }
    }

    /// No, and why.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny {
            message: message.into(),
        }
    }
}

/// How long an approval holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalScope {
    /// For this call.
    #[default]
    Once,
    /// For the session.
    Session,
    /// For good.
    Always,
}
