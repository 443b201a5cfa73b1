//! [`AcpError`]: the failure of a request of an editor.

use agcore_agent::{AgentError, AgentErrorKind};
use agent_client_protocol::v1::schema::Error;

/// The code of JSON-RPC for a request that is valid, but not now.
const INVALID_REQUEST: i32 = -32600;

/// The kinds of failures, which decide the code that an editor receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AcpErrorKind {
    /// There is no such session: code -32002.
    NotFound,
    /// The request has contents that cannot be used: code -32602.
    InvalidInput,
    /// The request is valid, but not now, because of a turn or of another program: code -32600.
    Busy,
    /// A key is missing or refused: code -32000.
    SignInRequired,
    /// The editor has closed the connection.
    Closed,
    /// Everything else: code -32603.
    Internal,
}

/// The failure of a request of an editor: its kind, and a sentence for the person in front of it.
///
/// ```
/// use agcore_acp::{AcpError, AcpErrorKind};
///
/// let error = AcpError::new(AcpErrorKind::NotFound, "there is no session `a`");
/// assert_eq!((error.kind(), error.to_string().as_str()), (AcpErrorKind::NotFound, "there is no session `a`"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AcpError {
    kind: AcpErrorKind,
    message: String,
}

impl AcpError {
    /// Creates an error.
    pub fn new(kind: AcpErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> AcpErrorKind {
        self.kind
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(AcpErrorKind::InvalidInput, message)
    }

    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new(AcpErrorKind::Busy, message)
    }

    /// Returns the error as editors receive it.
    pub(crate) fn into_protocol(self) -> Error {
        let mut error = match self.kind {
            AcpErrorKind::NotFound => Error::resource_not_found(None),
            AcpErrorKind::InvalidInput => Error::invalid_params(),
            AcpErrorKind::Busy => Error::new(INVALID_REQUEST, ""),
            AcpErrorKind::SignInRequired => Error::auth_required(),
            AcpErrorKind::Closed | AcpErrorKind::Internal => Error::internal_error(),
        };
        error.message = self.message;
        error
    }
}

/// Sorts the failures of sessions by kind. Their messages contain no secrets.
impl From<AgentError> for AcpError {
    fn from(error: AgentError) -> Self {
        let kind = match error.kind() {
            AgentErrorKind::NotFound => AcpErrorKind::NotFound,
            AgentErrorKind::InvalidInput => AcpErrorKind::InvalidInput,
            AgentErrorKind::Busy | AgentErrorKind::Held => AcpErrorKind::Busy,
            _ => AcpErrorKind::Internal,
        };
        Self::new(kind, error.to_string())
    }
}
