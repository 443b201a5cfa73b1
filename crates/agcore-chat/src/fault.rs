//! [`Fault`]: the serializable form of every error of the workspace.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// An error as plain data, for events, cassettes, journals and the state of a cycle.
///
/// Callers get the complete error of the crate that failed. Each of these error types has a method `fault()`.
///
/// ```
/// use agcore_chat::{Fault, FaultKind};
///
/// let fault = Fault::new(FaultKind::RateLimit, "too many requests; wait a moment").with_retryable(true);
/// assert!(fault.is_retryable());
/// assert_eq!(
///     serde_json::to_string(&fault)?,
///     r#"{"kind":"rate_limit","message":"too many requests; wait a moment","retryable":true}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fault {
    /// The kind of failure.
    pub kind: FaultKind,
    /// A message for people: what happened and what to do next. Contains neither request bodies nor keys.
    pub message: String,
    /// Whether the same attempt may succeed later.
    pub retryable: bool,
    /// How long to wait before the next attempt, if known.
    #[serde(
        default,
        rename = "retry_after_ms",
        with = "millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub retry_after: Option<Duration>,
    /// The HTTP status, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The server's id of the request, for the vendor's support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Fault {
    /// Creates a fault that is not retryable.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retryable: false,
            retry_after: None,
            status: None,
            request_id: None,
        }
    }

    /// Sets whether the same attempt may succeed later.
    #[must_use]
    pub fn with_retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }

    /// Sets how long to wait before the next attempt, rounded up to whole milliseconds, the precision of the JSON form.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        let millis = |wait: Duration| u64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        self.retry_after = wait.map(|wait| Duration::from_millis(millis(wait)));
        self
    }

    /// Sets the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: Option<u16>) -> Self {
        self.status = status;
        self
    }

    /// Sets the server's id of the request.
    #[must_use]
    pub fn with_request_id(mut self, id: Option<String>) -> Self {
        self.request_id = id;
        self
    }

    /// Returns whether the same attempt may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.retryable
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// The kinds of failure that callers may want to distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// The API key is missing or wrong.
    Auth,
    /// The API key does not permit the request.
    Permission,
    /// The model, path or item does not exist.
    NotFound,
    /// The server rejected the request as invalid.
    InvalidRequest,
    /// The server reported that the model wrote an invalid tool call.
    InvalidToolCall,
    /// The conversation does not fit into the model's context window.
    ContextLength,
    /// A filter rejected the input or the output.
    ContentFilter,
    /// Too many requests or tokens in a short time.
    RateLimit,
    /// The quota or credit is used up; waiting does not help soon.
    Quota,
    /// The server is overloaded or not ready.
    Overloaded,
    /// The server failed.
    Server,
    /// No answer arrived in time.
    Timeout,
    /// The connection failed or was lost.
    Connection,
    /// The answer was cut off.
    Truncated,
    /// The answer does not have the expected form.
    Malformed,
    /// Any other failure.
    Unknown,
    /// The caller cancelled the operation.
    Cancelled,
    /// A hook of the application blocked the operation.
    HookBlocked,
    /// A tool failed in a way that ends the turn.
    Tool,
    /// A limit or budget was reached.
    Limit,
    /// A store failed.
    Storage,
    /// Another process or copy has changed the same data, so the operation did not take place.
    Conflict,
}

impl FaultKind {
    /// Returns the kind's name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::InvalidRequest => "invalid_request",
            Self::InvalidToolCall => "invalid_tool_call",
            Self::ContextLength => "context_length",
            Self::ContentFilter => "content_filter",
            Self::RateLimit => "rate_limit",
            Self::Quota => "quota",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
            Self::Unknown => "unknown",
            Self::Cancelled => "cancelled",
            Self::HookBlocked => "hook_blocked",
            Self::Tool => "tool",
            Self::Limit => "limit",
            Self::Storage => "storage",
            Self::Conflict => "conflict",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Serializes a duration as whole milliseconds.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(wait: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
            .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}
