//! [`Fault`]: the serializable face of every error of the workspace.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// What went wrong, as data: for events, cassettes, journals and the state of a cycle. Callers get the full error of the
/// crate that failed; each such error has a `fault()`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fault {
    /// What kind of failure.
    pub kind: FaultKind,
    /// What happened and what to do next, for people; without bodies and keys.
    pub message: String,
    /// Whether the same attempt may succeed later.
    pub retryable: bool,
    /// How long to wait before that, when it is known.
    #[serde(
        default,
        rename = "retry_after_ms",
        with = "millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub retry_after: Option<Duration>,
    /// HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The server's id of the request, for its support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Fault {
    /// A fault that is not worth a retry.
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

    /// Says whether the same attempt may succeed later.
    pub fn with_retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }

    /// Says how long to wait before a retry, rounded up to the milliseconds that its JSON form keeps.
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        let millis = |wait: Duration| u64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        self.retry_after = wait.map(|wait| Duration::from_millis(millis(wait)));
        self
    }

    /// Adds the HTTP status.
    pub fn with_status(mut self, status: Option<u16>) -> Self {
        self.status = status;
        self
    }

    /// Adds the server's id of the request.
    pub fn with_request_id(mut self, id: Option<String>) -> Self {
        self.request_id = id;
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// The kinds of failure that a caller may want to tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// No key, or a wrong one.
    Auth,
    /// The key may not do this.
    Permission,
    /// Unknown model, path or item.
    NotFound,
    /// The server refused the request as it is.
    InvalidRequest,
    /// The server reports that the model wrote a bad call.
    InvalidToolCall,
    /// The conversation is longer than the model's window.
    ContextLength,
    /// A filter refused input or output.
    ContentFilter,
    /// Too many requests or tokens for now.
    RateLimit,
    /// Money or allowance is used up; waiting does not help soon.
    Quota,
    /// The server is overloaded or not ready.
    Overloaded,
    /// The server failed.
    Server,
    /// Nothing came in time.
    Timeout,
    /// No connection, or it broke.
    Connection,
    /// The answer ended in the middle.
    Truncated,
    /// The answer is not of the expected form.
    Malformed,
    /// Nothing above fits.
    Unknown,
    /// Cancelled by the caller.
    Cancelled,
    /// A hook of the application said no.
    HookBlocked,
    /// A tool failed for good.
    Tool,
    /// A limit or budget was reached.
    Limit,
    /// A store failed.
    Storage,
}

impl FaultKind {
    /// The kind's name in JSON.
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
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A duration as whole milliseconds.
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
