//! [`LlmErrorKind`]: the failures that a caller may want to tell apart.

use std::fmt;

use agcore_chat::FaultKind;

/// What kind of failure.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LlmErrorKind {
    /// No key, or a wrong one.
    Authentication,
    /// The key may not do this.
    Permission,
    /// Unknown model or path.
    NotFound,
    /// The server refused the request as it is.
    InvalidRequest,
    /// The server reports that the model wrote a bad call; another try may work.
    InvalidToolCall,
    /// The conversation is longer than the model's window.
    ContextLength {
        /// The window in tokens, where the server said it.
        limit: Option<u64>,
        /// What was asked for in tokens, where the server said it.
        requested: Option<u64>,
    },
    /// A filter refused input or output.
    ContentFilter,
    /// Too many requests or tokens for now.
    RateLimit,
    /// Money or allowance is used up; never retried.
    QuotaExhausted,
    /// The server is overloaded or not ready.
    Overloaded,
    /// The server failed.
    Server,
    /// No connection, or it broke.
    Connect,
    /// Nothing came in time.
    Timeout(TimeoutStage),
    /// The answer ended in the middle.
    Truncated,
    /// The answer is not of the expected form.
    Malformed,
    /// Cancelled by the caller.
    Cancelled,
    /// A hook said no. Of the cycle, never of a provider.
    HookBlocked,
    /// A tool failed for good. Of the cycle, never of a provider.
    ToolFailure,
    /// A limit or budget was reached. Of the cycle, never of a provider.
    LimitReached,
    /// A store failed. Of the cycle, never of a provider.
    Storage,
    /// Nothing above fits.
    #[default]
    Unknown,
}

/// Which of the four timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeoutStage {
    /// Making the connection.
    Connect,
    /// Waiting for the first byte of the answer.
    FirstByte,
    /// Waiting for the next piece of the answer.
    Idle,
    /// The whole exchange.
    Total,
}

impl LlmErrorKind {
    /// Whether the same call may succeed later, unless the error itself knows better.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::RateLimit
                | Self::Overloaded
                | Self::Server
                | Self::Connect
                | Self::Timeout(_)
                | Self::Truncated
                | Self::InvalidToolCall
        )
    }

    /// The kind as data.
    pub fn fault_kind(&self) -> FaultKind {
        match self {
            Self::Authentication => FaultKind::Auth,
            Self::Permission => FaultKind::Permission,
            Self::NotFound => FaultKind::NotFound,
            Self::InvalidRequest => FaultKind::InvalidRequest,
            Self::InvalidToolCall => FaultKind::InvalidToolCall,
            Self::ContextLength { .. } => FaultKind::ContextLength,
            Self::ContentFilter => FaultKind::ContentFilter,
            Self::RateLimit => FaultKind::RateLimit,
            Self::QuotaExhausted => FaultKind::Quota,
            Self::Overloaded => FaultKind::Overloaded,
            Self::Server => FaultKind::Server,
            Self::Connect => FaultKind::Connection,
            Self::Timeout(_) => FaultKind::Timeout,
            Self::Truncated => FaultKind::Truncated,
            Self::Malformed => FaultKind::Malformed,
            Self::Cancelled => FaultKind::Cancelled,
            Self::HookBlocked => FaultKind::HookBlocked,
            Self::ToolFailure => FaultKind::Tool,
            Self::LimitReached => FaultKind::Limit,
            Self::Storage => FaultKind::Storage,
            Self::Unknown => FaultKind::Unknown,
        }
    }
}

impl From<FaultKind> for LlmErrorKind {
    fn from(kind: FaultKind) -> Self {
        match kind {
            FaultKind::Auth => Self::Authentication,
            FaultKind::Permission => Self::Permission,
            FaultKind::NotFound => Self::NotFound,
            FaultKind::InvalidRequest => Self::InvalidRequest,
            FaultKind::InvalidToolCall => Self::InvalidToolCall,
            FaultKind::ContextLength => Self::ContextLength {
                limit: None,
                requested: None,
            },
            FaultKind::ContentFilter => Self::ContentFilter,
            FaultKind::RateLimit => Self::RateLimit,
            FaultKind::Quota => Self::QuotaExhausted,
            FaultKind::Overloaded => Self::Overloaded,
            FaultKind::Server => Self::Server,
            FaultKind::Timeout => Self::Timeout(TimeoutStage::Total),
            FaultKind::Connection => Self::Connect,
            FaultKind::Truncated => Self::Truncated,
            FaultKind::Malformed => Self::Malformed,
            FaultKind::Cancelled => Self::Cancelled,
            FaultKind::HookBlocked => Self::HookBlocked,
            FaultKind::Tool => Self::ToolFailure,
            FaultKind::Limit => Self::LimitReached,
            FaultKind::Storage => Self::Storage,
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for TimeoutStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connect",
            Self::FirstByte => "first byte",
            Self::Idle => "between chunks",
            Self::Total => "whole exchange",
        })
    }
}
