//! [`AgentError`]: what went wrong in a session.

use agcore_chat::{Fault, FaultKind};
use agcore_llm::{LlmError, LlmErrorKind};
use agcore_tools::ToolError;

/// What went wrong in a session. The session stays usable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The model could not be asked, or did not answer.
    #[error(transparent)]
    Llm(LlmError),
    /// A tool, or the setting up of the tools.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A hook said no.
    #[error("a hook blocked the turn: {0}")]
    HookBlocked(String),
    /// A limit was reached.
    #[error("a limit was reached: {0}")]
    LimitExceeded(String),
    /// Another turn is running, and the setting is to refuse.
    #[error("the session is busy with another turn; wait for it, cancel it, or choose another BusyPolicy")]
    Busy,
    /// A part is missing or wrong.
    #[error("the agent cannot be built: `{field}` {problem}")]
    Config {
        /// The field at fault.
        field: &'static str,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A saved session cannot be used.
    #[error("the saved session cannot be used: {0}")]
    State(String),
}

impl AgentError {
    /// Whether another try may succeed; the inner error is asked.
    pub fn is_recoverable(&self) -> bool {
        match self {
            Self::Llm(error) => error.is_retryable(),
            Self::Tool(error) => error.is_recoverable(),
            Self::Busy => true,
            Self::HookBlocked(_) | Self::LimitExceeded(_) | Self::Config { .. } | Self::State(_) => false,
        }
    }

    /// The error as data, for events and journals.
    pub fn fault(&self) -> Fault {
        let kind = match self {
            Self::Llm(error) => return error.fault(),
            Self::Tool(error) => return error.fault(),
            Self::HookBlocked(_) => FaultKind::HookBlocked,
            Self::LimitExceeded(_) => FaultKind::Limit,
            Self::State(_) => FaultKind::Storage,
            Self::Busy | Self::Config { .. } => FaultKind::InvalidRequest,
        };
        Fault::new(kind, self.to_string()).with_retryable(self.is_recoverable())
    }

    /// The model's error, when it is one.
    pub fn as_llm(&self) -> Option<&LlmError> {
        match self {
            Self::Llm(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the turn was cancelled by the caller.
    pub fn is_cancelled(&self) -> bool {
        self.as_llm()
            .is_some_and(|error| *error.kind() == LlmErrorKind::Cancelled)
    }
}

impl From<LlmError> for AgentError {
    fn from(error: LlmError) -> Self {
        match error.kind() {
            LlmErrorKind::HookBlocked => Self::HookBlocked(error.message().to_owned()),
            LlmErrorKind::LimitReached => Self::LimitExceeded(error.message().to_owned()),
            _ => Self::Llm(error),
        }
    }
}
