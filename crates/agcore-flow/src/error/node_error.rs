//! [`NodeError`]: why a node failed.

use std::{error::Error, fmt, time::Duration};

use crate::error::{FlowError, FlowErrorKind};

/// The reason why a node failed, or that it waits for a person.
///
/// Every error converts into one, so that nodes can use `?`. It is retried if the node has [attempts](crate::Retry) left,
/// unless it is [permanent](Self::permanent).
pub struct NodeError {
    reason: Reason,
    is_retryable: bool,
}

enum Reason {
    Failed(Box<dyn Error + Send + Sync>),
    Timeout(Duration),
    Suspended,
}

impl NodeError {
    /// Creates an error with a message, to be retried.
    pub fn new(message: impl Into<String>) -> Self {
        Self::from_source(message.into().into(), true)
    }

    /// Creates an error with a message that another attempt cannot change.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self::from_source(message.into().into(), false)
    }

    /// Sets whether another attempt can succeed.
    #[must_use]
    pub fn with_retryable(mut self, is_retryable: bool) -> Self {
        self.is_retryable = is_retryable;
        self
    }

    pub(crate) fn suspended() -> Self {
        Self {
            reason: Reason::Suspended,
            is_retryable: false,
        }
    }

    pub(crate) fn timeout(limit: Duration) -> Self {
        Self {
            reason: Reason::Timeout(limit),
            is_retryable: true,
        }
    }

    /// Returns whether another attempt can succeed.
    pub fn is_retryable(&self) -> bool {
        self.is_retryable
    }

    /// Returns whether the node waits for a person, which is not a failure.
    pub fn is_suspended(&self) -> bool {
        matches!(self.reason, Reason::Suspended)
    }

    /// Converts the error into that of the run.
    pub(crate) fn into_flow_error(self, node: &str, attempts: u32) -> FlowError {
        let times = match attempts {
            1 => String::new(),
            more => format!(" {more} times"),
        };
        let kind = match self.reason {
            Reason::Timeout(_) => FlowErrorKind::Timeout,
            _ => FlowErrorKind::NodeFailed,
        };
        let is_retryable = self.is_retryable;
        let source = match self.reason {
            Reason::Failed(source) => source,
            other => Self::text(&other).into(),
        };
        let failed = FlowError::new(kind, format!("the node `{node}` failed{times}")).at_node(node);
        failed.with_recoverable(is_retryable).with_source(source)
    }

    fn from_source(source: Box<dyn Error + Send + Sync>, is_retryable: bool) -> Self {
        Self {
            reason: Reason::Failed(source),
            is_retryable,
        }
    }

    fn text(reason: &Reason) -> String {
        match reason {
            Reason::Failed(source) => source.to_string(),
            Reason::Timeout(limit) => format!("it did not finish within {limit:?}; allow more time, or make it faster"),
            Reason::Suspended => "it waits for a person without having asked; call `NodeContext::ask`".to_owned(),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for NodeError {
    fn from(error: E) -> Self {
        let flow = (&error as &dyn Error).downcast_ref::<FlowError>();
        let is_retryable = flow.is_none_or(FlowError::is_recoverable);
        Self::from_source(Box::new(error), is_retryable)
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Self::text(&self.reason))
    }
}

impl fmt::Debug for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
