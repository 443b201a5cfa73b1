//! [`FlowError`]: why a flow could not be built or run.

mod problem;
mod node_error;

use std::{error::Error, fmt};

use agcore_chat::{Fault, FaultKind};
use agcore_session::{SessionError, SessionErrorKind};

pub use self::{node_error::NodeError, problem::FlowProblem};

/// The reason why a flow could not be built, or a run stopped.
///
/// [`Display`](fmt::Display) prints one layer; the cause is in [`source`](Error::source). A run with checkpoints that failed
/// can be resumed.
pub struct FlowError(Box<Inner>);

struct Inner {
    kind: FlowErrorKind,
    message: String,
    node: Option<String>,
    problems: Vec<FlowProblem>,
    is_recoverable: bool,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The kind of a [`FlowError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FlowErrorKind {
    /// The graph has problems, which [`FlowError::problems`] lists.
    InvalidGraph,
    /// A node failed, after all attempts.
    NodeFailed,
    /// A node did not finish in time, after all attempts.
    Timeout,
    /// A node named a next node to which no edge leads.
    InvalidRoute,
    /// A node was to be visited more often than its limit allows.
    LimitReached,
    /// The run was cancelled.
    Cancelled,
    /// A store failed.
    Storage,
    /// Another process continues the same run.
    Conflict,
    /// The checkpoints belong to another flow.
    OtherFlow,
    /// The checkpoints were written by a newer version of the flow or of this crate.
    NewerVersion,
    /// The checkpoints are incomplete or damaged.
    CorruptCheckpoint,
    /// The state of an older version could not be converted.
    Migration,
    /// The input does not fit the run: an answer to no question, a run that exists already or does not exist.
    InvalidInput,
}

impl FlowError {
    #[cold]
    pub(crate) fn new(kind: FlowErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            node: None,
            problems: Vec::new(),
            is_recoverable: false,
            source: None,
        }))
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    pub(crate) fn at_node(mut self, node: &str) -> Self {
        self.0.node = Some(node.to_owned());
        self
    }

    pub(crate) fn with_recoverable(mut self, is_recoverable: bool) -> Self {
        self.0.is_recoverable = is_recoverable;
        self
    }

    #[cold]
    pub(crate) fn graph(flow: &str, problems: Vec<FlowProblem>) -> Self {
        let listed: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let message = format!("the flow `{flow}` cannot be built: {}", listed.join("; "));
        let mut error = Self::new(FlowErrorKind::InvalidGraph, message);
        error.0.problems = problems;
        error
    }

    #[cold]
    pub(crate) fn corrupt(message: impl Into<String>) -> Self {
        Self::new(FlowErrorKind::CorruptCheckpoint, message)
    }

    #[cold]
    /// Creates the error of an input that a flow does not accept, for flows that are built from data.
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(FlowErrorKind::InvalidInput, message)
    }

    #[cold]
    pub(crate) fn cancelled() -> Self {
        Self::new(FlowErrorKind::Cancelled, "the run was cancelled")
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> FlowErrorKind {
        self.0.kind
    }

    /// Returns the node that failed.
    pub fn failed_node(&self) -> Option<&str> {
        self.0.node.as_deref()
    }

    /// Returns the problems of an invalid graph.
    pub fn problems(&self) -> &[FlowProblem] {
        &self.0.problems
    }

    /// Returns whether the run can succeed when it is resumed as it is.
    pub fn is_recoverable(&self) -> bool {
        self.0.is_recoverable || matches!(self.0.kind, FlowErrorKind::Timeout | FlowErrorKind::Cancelled)
    }

    /// Converts the error into serializable data for events.
    pub fn fault(&self) -> Fault {
        let kind = match self.0.kind {
            FlowErrorKind::Timeout => FaultKind::Timeout,
            FlowErrorKind::LimitReached => FaultKind::Limit,
            FlowErrorKind::Cancelled => FaultKind::Cancelled,
            FlowErrorKind::Storage | FlowErrorKind::Conflict | FlowErrorKind::CorruptCheckpoint => FaultKind::Storage,
            FlowErrorKind::NodeFailed => FaultKind::Unknown,
            _ => FaultKind::InvalidRequest,
        };
        Fault::new(kind, self.to_string()).with_retryable(self.is_recoverable())
    }
}

impl From<SessionError> for FlowError {
    fn from(error: SessionError) -> Self {
        let (kind, message) = match error.kind() {
            SessionErrorKind::Conflict { .. } => (
                FlowErrorKind::Conflict,
                "another process continues the run; wait for it, or read the run again",
            ),
            SessionErrorKind::NotFound => (
                FlowErrorKind::InvalidInput,
                "the run does not exist in the store; create it with `Checkpoints::create`",
            ),
            SessionErrorKind::Serialization => (FlowErrorKind::CorruptCheckpoint, "a checkpoint cannot be read"),
            _ => (FlowErrorKind::Storage, "the store of checkpoints failed"),
        };
        let is_recoverable = error.is_recoverable();
        Self::new(kind, message)
            .with_source(error)
            .with_recoverable(is_recoverable)
    }
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

/// Prints the kind and the message with all causes, because this is what `main` prints of an error that it returns.
impl fmt::Debug for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?})", self.0.message, self.0.kind)?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl Error for FlowError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.0.source.as_deref();
        source.map(|source| source as &(dyn Error + 'static))
    }
}
