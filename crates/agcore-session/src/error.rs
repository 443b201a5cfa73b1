//! [`SessionError`]: the error of stores of sessions, journals and checkpoints.

use std::{error::Error, fmt, sync::Arc};

use agcore_chat::{Fault, FaultKind, id::IdError};

use crate::{hold::Holder, run_scope::RunScope};

/// An error of a store of sessions, journals or checkpoints.
///
/// [`Display`](fmt::Display) prints one layer; the cause is in [`source`](Error::source). Messages never contain the
/// credentials of a database. Cheap to clone.
///
/// ```
/// use agcore_session::{SessionError, SessionErrorKind};
///
/// let error = SessionError::new(SessionErrorKind::Unavailable, "the database does not answer");
/// assert!(error.is_recoverable());
/// assert_eq!(error.to_string(), "the database does not answer");
/// ```
#[derive(Clone)]
pub struct SessionError(Arc<Inner>);

struct Inner {
    kind: SessionErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    holder: Option<Holder>,
}

/// The reason for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionErrorKind {
    /// The object to change does not exist.
    NotFound,
    /// The object to create exists already.
    AlreadyExists,
    /// The change does not fit the stored state: a status that cannot follow, a call that has finished already.
    InvalidState,
    /// Another writer was faster: the stream ends at another record than expected.
    Conflict {
        /// The sequence number that the writer expected.
        expected: u64,
        /// The sequence number of the last record.
        found: u64,
    },
    /// The [document](crate::SessionDocument) of the session has another version than the writer has read. Nothing was written.
    StaleDocument {
        /// The version that is stored, 0 if there is none.
        found: u64,
    },
    /// Somebody else holds what only one may have at a time, or shares it; [`SessionError::holder`] returns the holder.
    Held,
    /// The lease under which this was to be written does not hold any more: the run belongs to another worker, or to none. Nothing
    /// was written. The caller has to stop working on the run.
    Fenced,
    /// As many runs wait or run as the [limits](crate::RunLimits) of the commit allow. Nothing was written.
    TooManyRuns(RunScope),
    /// The storage failed: a full disk, a file that cannot be written, an error of the database.
    Storage,
    /// Stored data cannot be read: it is corrupt, or was written by a newer version.
    Serialization,
    /// An id, a filter or a value is not acceptable. Nothing was stored.
    InvalidInput,
    /// The storage cannot be reached at the moment, or is locked.
    Unavailable,
}

impl SessionErrorKind {
    /// Returns the name of the kind in logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::InvalidState => "invalid_state",
            Self::Conflict { .. } => "conflict",
            Self::StaleDocument { .. } => "stale_document",
            Self::Held => "held",
            Self::Fenced => "fenced",
            Self::TooManyRuns(_) => "too_many_runs",
            Self::Storage => "storage",
            Self::Serialization => "serialization",
            Self::InvalidInput => "invalid_input",
            Self::Unavailable => "unavailable",
        }
    }
}

impl SessionError {
    /// Creates an error.
    #[cold]
    pub fn new(kind: SessionErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            source: None,
            holder: None,
        }))
    }

    /// Creates an error with a cause.
    #[cold]
    pub fn with_source(
        kind: SessionErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            source: Some(source.into()),
            holder: None,
        }))
    }

    /// Creates an [`InvalidInput`](SessionErrorKind::InvalidInput) error.
    #[cold]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(SessionErrorKind::InvalidInput, message)
    }

    /// Creates a [`NotFound`](SessionErrorKind::NotFound) error.
    #[cold]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(SessionErrorKind::NotFound, message)
    }

    /// Creates an [`InvalidState`](SessionErrorKind::InvalidState) error.
    #[cold]
    pub fn invalid_state(message: impl Into<String>) -> Self {
        Self::new(SessionErrorKind::InvalidState, message)
    }

    /// Creates a [`Conflict`](SessionErrorKind::Conflict) error.
    #[cold]
    pub fn conflict(stream: &str, expected: u64, found: u64) -> Self {
        let message =
            format!("the stream `{stream}` ends at record {found}, not at {expected}: read it again and retry");
        Self::new(SessionErrorKind::Conflict { expected, found }, message)
    }

    /// Creates a [`Held`](SessionErrorKind::Held) error.
    #[cold]
    pub fn held(name: &str, holder: Holder) -> Self {
        Self(Arc::new(Inner {
            kind: SessionErrorKind::Held,
            message: format!("`{name}` is in use by {holder}; wait until it is free"),
            source: None,
            holder: Some(holder),
        }))
    }

    /// Returns the holder, if the session is [`Held`](SessionErrorKind::Held).
    pub fn holder(&self) -> Option<&Holder> {
        self.0.holder.as_ref()
    }

    /// Returns the reason for the error.
    pub fn kind(&self) -> SessionErrorKind {
        self.0.kind
    }

    /// Returns the message without its cause.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns whether the same operation can succeed later. After a conflict the stream has to be read first.
    pub fn is_recoverable(&self) -> bool {
        matches!(
            self.0.kind,
            SessionErrorKind::Conflict { .. } | SessionErrorKind::Held | SessionErrorKind::Unavailable
        )
    }

    /// Converts the error into serializable data for events and journals.
    pub fn fault(&self) -> Fault {
        let kind = match self.0.kind {
            SessionErrorKind::NotFound => FaultKind::NotFound,
            SessionErrorKind::InvalidInput
            | SessionErrorKind::AlreadyExists
            | SessionErrorKind::Held
            | SessionErrorKind::InvalidState => FaultKind::InvalidRequest,
            SessionErrorKind::Conflict { .. } | SessionErrorKind::StaleDocument { .. } | SessionErrorKind::Fenced => {
                FaultKind::Conflict
            }
            SessionErrorKind::TooManyRuns(_) => FaultKind::RateLimit,
            _ => FaultKind::Storage,
        };
        Fault::new(kind, self.to_string()).with_retryable(self.0.kind == SessionErrorKind::Unavailable)
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

/// Prints the kind and the message with all causes, because this is what `main` prints of an error that it returns.
impl fmt::Debug for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0.message, self.0.kind.as_str())?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl Error for SessionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.0.source.as_deref();
        source.map(|source| source as &(dyn Error + 'static))
    }
}

impl From<IdError> for SessionError {
    fn from(error: IdError) -> Self {
        Self::invalid(error.to_string())
    }
}
