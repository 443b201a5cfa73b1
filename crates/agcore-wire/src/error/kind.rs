//! [`LlmErrorKind`]: the failures that a caller may want to distinguish.

use std::fmt;

use agcore_chat::FaultKind;

/// The kind of failure of a model call.
///
/// ```
/// use agcore_wire::{LlmError, LlmErrorKind};
///
/// fn advice(error: &LlmError) -> &'static str {
///     match error.kind() {
///         LlmErrorKind::Authentication => "check the key",
///         LlmErrorKind::RateLimit => "wait a minute",
///         kind if kind.is_retryable() => "try again",
///         _ => "read the message",
///     }
/// }
///
/// let error = LlmError::new(LlmErrorKind::Authentication, "the key was revoked");
/// assert_eq!(advice(&error), "check the key");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LlmErrorKind {
    /// The API key is missing or invalid.
    Authentication,
    /// The API key lacks permission for the request.
    Permission,
    /// The model or path is unknown.
    NotFound,
    /// The request is invalid.
    InvalidRequest,
    /// The server reports that the model generated an invalid tool call; another attempt may succeed.
    InvalidToolCall,
    /// The conversation is longer than the model's context window.
    ContextLength {
        /// The context window in tokens, if the server reported it.
        limit: Option<u64>,
        /// The requested tokens, if the server reported them.
        requested: Option<u64>,
    },
    /// A content filter refused the input or the reply.
    ContentFilter,
    /// Too many requests or tokens in a period.
    RateLimit,
    /// The quota or balance of the account is exhausted. Never retried.
    QuotaExhausted,
    /// The server is overloaded or not ready.
    Overloaded,
    /// The server failed.
    Server,
    /// The connection failed or was lost.
    Connect,
    /// A time limit was exceeded.
    Timeout(TimeoutStage),
    /// The reply ended in the middle.
    Truncated,
    /// The reply does not have the expected form.
    Malformed,
    /// The caller cancelled the call.
    Cancelled,
    /// Any other failure.
    #[default]
    Unknown,
}

/// The stage of an exchange whose time limit was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeoutStage {
    /// Establishing the connection.
    Connect,
    /// Waiting for the first byte of the reply.
    FirstByte,
    /// Waiting for the next chunk of the reply.
    Idle,
    /// The whole exchange.
    Total,
}

impl LlmErrorKind {
    /// Returns whether the same call may succeed later. [`LlmError::is_retryable`](super::LlmError::is_retryable) is more
    /// specific.
    pub fn is_retryable(self) -> bool {
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

    /// Returns the kind as data.
    pub fn fault_kind(self) -> FaultKind {
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
            Self::Unknown => FaultKind::Unknown,
        }
    }
}

/// Formats the kind in words: `rate limit`, `timeout (first byte)`.
///
/// ```
/// use agcore_wire::LlmErrorKind;
///
/// assert_eq!(format!("{:>12}", LlmErrorKind::NotFound), "   not found");
/// ```
impl fmt::Display for LlmErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Authentication => "authentication",
            Self::Permission => "permission",
            Self::NotFound => "not found",
            Self::InvalidRequest => "invalid request",
            Self::InvalidToolCall => "invalid tool call",
            Self::ContextLength { .. } => "context length",
            Self::ContentFilter => "content filter",
            Self::RateLimit => "rate limit",
            Self::QuotaExhausted => "quota exhausted",
            Self::Overloaded => "overloaded",
            Self::Server => "server error",
            Self::Connect => "connection",
            Self::Timeout(TimeoutStage::Connect) => "timeout (connect)",
            Self::Timeout(TimeoutStage::FirstByte) => "timeout (first byte)",
            Self::Timeout(TimeoutStage::Idle) => "timeout (between chunks)",
            Self::Timeout(TimeoutStage::Total) => "timeout (whole exchange)",
            Self::Truncated => "truncated",
            Self::Malformed => "malformed reply",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        })
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
            // The other kinds of faults do not occur in model calls.
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for TimeoutStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Connect => "connect",
            Self::FirstByte => "first byte",
            Self::Idle => "between chunks",
            Self::Total => "whole exchange",
        })
    }
}
