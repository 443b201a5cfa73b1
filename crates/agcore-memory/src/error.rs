//! [`MemoryError`]: the error of stores of memory items and knowledge.

use std::{error::Error, fmt, sync::Arc};

use agcore_chat::{Fault, FaultKind, id::IdError};

/// An error of a store of memory items or knowledge, or of a search.
///
/// [`Display`](fmt::Display) prints one layer; the cause is in [`source`](Error::source). Messages never contain the
/// credentials of a database. Cheap to clone.
///
/// ```
/// use agcore_memory::{MemoryError, MemoryErrorKind};
///
/// let error = MemoryError::new(MemoryErrorKind::Unavailable, "the database does not answer");
/// assert!(error.is_recoverable());
/// assert_eq!(error.to_string(), "the database does not answer");
/// ```
#[derive(Clone)]
pub struct MemoryError(Arc<Inner>);

struct Inner {
    kind: MemoryErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The reason for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryErrorKind {
    /// The object to change does not exist.
    NotFound,
    /// The object to create exists already.
    AlreadyExists,
    /// The change does not fit the stored state: a fact is superseded at a time at which it is not valid.
    InvalidState,
    /// Another writer was faster: the page has another version than expected.
    Conflict {
        /// The version that the writer expected.
        expected: u64,
        /// The version of the stored page.
        found: u64,
    },
    /// The storage failed: a full disk, a file that cannot be written, an error of the database.
    Storage,
    /// Stored data cannot be read: it is corrupt, or was written by a newer version.
    Serialization,
    /// An id, a filter or a value is not acceptable. Nothing was stored.
    InvalidInput,
    /// A search failed.
    Retrieval,
    /// The storage cannot be reached at the moment, or is locked.
    Unavailable,
}

impl MemoryErrorKind {
    /// Returns the name of the kind in logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::InvalidState => "invalid_state",
            Self::Conflict { .. } => "conflict",
            Self::Storage => "storage",
            Self::Serialization => "serialization",
            Self::InvalidInput => "invalid_input",
            Self::Retrieval => "retrieval",
            Self::Unavailable => "unavailable",
        }
    }
}

impl MemoryError {
    /// Creates an error.
    #[cold]
    pub fn new(kind: MemoryErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            source: None,
        }))
    }

    /// Creates an error with a cause.
    #[cold]
    pub fn with_source(
        kind: MemoryErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            source: Some(source.into()),
        }))
    }

    /// Creates an [`InvalidInput`](MemoryErrorKind::InvalidInput) error.
    #[cold]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(MemoryErrorKind::InvalidInput, message)
    }

    /// Creates a [`NotFound`](MemoryErrorKind::NotFound) error.
    #[cold]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(MemoryErrorKind::NotFound, message)
    }

    /// Creates an [`InvalidState`](MemoryErrorKind::InvalidState) error.
    #[cold]
    pub fn invalid_state(message: impl Into<String>) -> Self {
        Self::new(MemoryErrorKind::InvalidState, message)
    }

    /// Returns the reason for the error.
    pub fn kind(&self) -> MemoryErrorKind {
        self.0.kind
    }

    /// Returns the message without its cause.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns whether the same operation can succeed later. After a conflict the page has to be read first.
    pub fn is_recoverable(&self) -> bool {
        matches!(
            self.0.kind,
            MemoryErrorKind::Conflict { .. } | MemoryErrorKind::Unavailable
        )
    }

    /// Converts the error into serializable data for events and journals.
    pub fn fault(&self) -> Fault {
        let kind = match self.0.kind {
            MemoryErrorKind::NotFound => FaultKind::NotFound,
            MemoryErrorKind::InvalidInput | MemoryErrorKind::AlreadyExists | MemoryErrorKind::InvalidState => {
                FaultKind::InvalidRequest
            }
            MemoryErrorKind::Conflict { .. } => FaultKind::Conflict,
            _ => FaultKind::Storage,
        };
        Fault::new(kind, self.to_string()).with_retryable(self.0.kind == MemoryErrorKind::Unavailable)
    }
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

/// Prints the kind and the message with all causes, because this is what `main` prints of an error that it returns.
impl fmt::Debug for MemoryError {
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

impl Error for MemoryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.0.source.as_deref();
        source.map(|source| source as &(dyn Error + 'static))
    }
}

impl From<IdError> for MemoryError {
    fn from(error: IdError) -> Self {
        Self::invalid(error.to_string())
    }
}
