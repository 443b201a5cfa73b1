//! [`ReplyEvent`]: a part of the answer of a run, independent of the API.

use agcore_chat::Usage;

use crate::error::ApiError;

/// A part of the answer of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReplyEvent {
    /// The first run of the answer has started, at this time in seconds since 1970.
    Started(u64),
    /// A part of reasoning, or of the work of the agent if that is shown.
    Reasoning {
        /// The id of the span of reasoning.
        id: String,
        /// The part.
        delta: String,
    },
    /// A span of reasoning is complete.
    ReasoningEnd {
        /// The id of the span.
        id: String,
    },
    /// A text starts.
    TextStart {
        /// The id of the text.
        id: String,
        /// Whether the model declines to answer.
        is_refusal: bool,
    },
    /// A part of a text.
    Text {
        /// The id of the text.
        id: String,
        /// The part.
        delta: String,
    },
    /// A text ends.
    TextEnd {
        /// The id of the text.
        id: String,
        /// Whether another text replaces this one.
        is_discarded: bool,
    },
    /// The answer ends, or its run waits for a person.
    End(Box<ReplyEnd>),
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReplyEnd {
    /// How the run has ended.
    pub outcome: Outcome,
    /// The calls that the client has to run.
    pub calls: Vec<Call>,
    /// The usage of all runs of the answer so far.
    pub usage: Usage,
    /// The cost of these runs with its currency, such as `0.0012 USD`, if the server shows it.
    pub cost: Vec<String>,
    /// Why the last text of the model is incomplete, such as `length`.
    pub cut_off: Option<String>,
}

/// The end of a run, by its kind.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// It succeeded. If there are calls, it continues with their results.
    Completed,
    /// It was cancelled.
    Cancelled,
    /// It failed.
    Failed {
        /// The stable name of the error.
        code: String,
        /// A description for people.
        message: String,
    },
    /// It waits for the answers of a person.
    Waiting(Vec<OpenQuestion>),
}

impl Outcome {
    /// Returns the error that a client gets; `None` if the run has succeeded, or waits.
    pub fn error(&self) -> Option<ApiError> {
        match self {
            Self::Completed | Self::Waiting(_) => None,
            Self::Failed { code, message } => Some(ApiError::new(500, code, message)),
            Self::Cancelled => Some(ApiError::new(409, "run_canceled", "the run was cancelled")),
        }
    }
}

/// A question that only a person can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenQuestion {
    /// The id.
    pub id: String,
    /// The kind of answer that is needed, such as `approval`.
    pub reason: String,
}

/// A call of a client's tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The id by which the thread knows the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON.
    pub arguments: String,
}

impl Call {
    /// Creates a call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}
