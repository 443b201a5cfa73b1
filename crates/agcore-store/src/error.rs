//! [`StoreError`]: the error of databases.

use std::{error::Error, fmt, sync::Arc};

use agcore_chat::{Fault, id::IdError};
use agcore_memory::{MemoryError, MemoryErrorKind};
#[cfg(feature = "user-data")]
use agcore_schedule::{ScheduleError, ScheduleErrorKind};
use agcore_session::{SessionError, SessionErrorKind};
#[cfg(feature = "user-data")]
use agcore_webhook::{WebhookError, WebhookErrorKind};

/// An error of a database: it cannot be opened, migrated, backed up, or does not do what it should.
///
/// A database implements contracts with errors of their own. This error contains what they have in common, and an error of a
/// contract as it is: each can be converted to the other.
///
/// ```
/// use agcore_session::{SessionError, SessionErrorKind};
/// use agcore_store::{StoreError, StoreErrorKind};
///
/// let error = StoreError::new(StoreErrorKind::Unavailable, "the database does not answer; try again later");
/// assert!(error.is_recoverable());
/// assert_eq!(SessionError::from(error).kind(), SessionErrorKind::Unavailable);
/// ```
#[derive(Clone)]
pub struct StoreError(Repr);

#[derive(Clone)]
enum Repr {
    Database(Arc<Inner>),
    Session(SessionError),
    Memory(MemoryError),
    #[cfg(feature = "user-data")]
    Schedule(ScheduleError),
    #[cfg(feature = "user-data")]
    Webhook(WebhookError),
}

struct Inner {
    kind: StoreErrorKind,
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// The reason for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// An object that is needed does not exist, such as the file to check.
    NotFound,
    /// The object to create exists already, such as the file of a backup.
    AlreadyExists,
    /// The change does not fit the stored data, or breaks a rule of the tables.
    InvalidState,
    /// An option, an id or a value is not acceptable. Nothing was stored.
    InvalidInput,
    /// Stored data cannot be read: it is damaged, or was written by a newer version.
    Serialization,
    /// The storage failed: a full disk, a file that cannot be written, an error of the database.
    Storage,
    /// The database cannot be reached at the moment, or is locked.
    Unavailable,
    /// A contract of sessions was not kept, for this reason.
    Session(SessionErrorKind),
    /// A contract of memory or knowledge was not kept, for this reason.
    Memory(MemoryErrorKind),
    /// A contract of schedules was not kept, for this reason.
    #[cfg(feature = "user-data")]
    Schedule(ScheduleErrorKind),
    /// A contract of webhooks was not kept, for this reason.
    #[cfg(feature = "user-data")]
    Webhook(WebhookErrorKind),
}

impl StoreErrorKind {
    /// Returns the name of the kind in logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::InvalidState => "invalid_state",
            Self::InvalidInput => "invalid_input",
            Self::Serialization => "serialization",
            Self::Storage => "storage",
            Self::Unavailable => "unavailable",
            Self::Session(kind) => kind.as_str(),
            Self::Memory(kind) => kind.as_str(),
            #[cfg(feature = "user-data")]
            Self::Schedule(kind) => kind.as_str(),
            #[cfg(feature = "user-data")]
            Self::Webhook(kind) => kind.as_str(),
        }
    }
}

impl StoreError {
    /// Creates an error.
    #[cold]
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self::database(kind, message.into(), None)
    }

    /// Creates an error with a cause.
    #[cold]
    pub fn with_source(
        kind: StoreErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::database(kind, message.into(), Some(Arc::from(source.into())))
    }

    /// Creates an [`InvalidInput`](StoreErrorKind::InvalidInput) error.
    #[cold]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::InvalidInput, message)
    }

    /// Creates a [`NotFound`](StoreErrorKind::NotFound) error.
    #[cold]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::NotFound, message)
    }

    fn database(kind: StoreErrorKind, message: String, source: Option<Arc<dyn Error + Send + Sync>>) -> Self {
        Self(Repr::Database(Arc::new(Inner { kind, message, source })))
    }

    /// Returns the reason for the error. What the contracts and this error have in common is returned as a kind of this error.
    pub fn kind(&self) -> StoreErrorKind {
        match &self.0 {
            Repr::Database(error) => error.kind,
            Repr::Session(error) => match error.kind() {
                SessionErrorKind::NotFound => StoreErrorKind::NotFound,
                SessionErrorKind::AlreadyExists => StoreErrorKind::AlreadyExists,
                SessionErrorKind::InvalidState => StoreErrorKind::InvalidState,
                SessionErrorKind::InvalidInput => StoreErrorKind::InvalidInput,
                SessionErrorKind::Serialization => StoreErrorKind::Serialization,
                SessionErrorKind::Storage => StoreErrorKind::Storage,
                SessionErrorKind::Unavailable => StoreErrorKind::Unavailable,
                kind => StoreErrorKind::Session(kind),
            },
            Repr::Memory(error) => match error.kind() {
                MemoryErrorKind::NotFound => StoreErrorKind::NotFound,
                MemoryErrorKind::AlreadyExists => StoreErrorKind::AlreadyExists,
                MemoryErrorKind::InvalidState => StoreErrorKind::InvalidState,
                MemoryErrorKind::InvalidInput => StoreErrorKind::InvalidInput,
                MemoryErrorKind::Serialization => StoreErrorKind::Serialization,
                MemoryErrorKind::Storage => StoreErrorKind::Storage,
                MemoryErrorKind::Unavailable => StoreErrorKind::Unavailable,
                kind => StoreErrorKind::Memory(kind),
            },
            #[cfg(feature = "user-data")]
            Repr::Schedule(error) => match error.kind() {
                ScheduleErrorKind::NotFound => StoreErrorKind::NotFound,
                ScheduleErrorKind::AlreadyExists => StoreErrorKind::AlreadyExists,
                ScheduleErrorKind::InvalidState => StoreErrorKind::InvalidState,
                ScheduleErrorKind::InvalidInput => StoreErrorKind::InvalidInput,
                ScheduleErrorKind::Serialization => StoreErrorKind::Serialization,
                ScheduleErrorKind::Storage => StoreErrorKind::Storage,
                ScheduleErrorKind::Unavailable => StoreErrorKind::Unavailable,
                kind => StoreErrorKind::Schedule(kind),
            },
            #[cfg(feature = "user-data")]
            Repr::Webhook(error) => match error.kind() {
                WebhookErrorKind::NotFound => StoreErrorKind::NotFound,
                WebhookErrorKind::AlreadyExists => StoreErrorKind::AlreadyExists,
                WebhookErrorKind::InvalidState => StoreErrorKind::InvalidState,
                WebhookErrorKind::InvalidInput => StoreErrorKind::InvalidInput,
                WebhookErrorKind::Serialization => StoreErrorKind::Serialization,
                WebhookErrorKind::Storage => StoreErrorKind::Storage,
                WebhookErrorKind::Unavailable => StoreErrorKind::Unavailable,
                kind => StoreErrorKind::Webhook(kind),
            },
        }
    }

    /// Returns the message without its cause.
    pub fn message(&self) -> &str {
        match &self.0 {
            Repr::Database(error) => &error.message,
            Repr::Session(error) => error.message(),
            Repr::Memory(error) => error.message(),
            #[cfg(feature = "user-data")]
            Repr::Schedule(error) => error.message(),
            #[cfg(feature = "user-data")]
            Repr::Webhook(error) => error.message(),
        }
    }

    /// Returns whether the same operation can succeed later.
    pub fn is_recoverable(&self) -> bool {
        match &self.0 {
            Repr::Database(error) => error.kind == StoreErrorKind::Unavailable,
            Repr::Session(error) => error.is_recoverable(),
            Repr::Memory(error) => error.is_recoverable(),
            #[cfg(feature = "user-data")]
            Repr::Schedule(error) => error.is_recoverable(),
            #[cfg(feature = "user-data")]
            Repr::Webhook(error) => error.is_recoverable(),
        }
    }

    /// Converts the error into serializable data for events and journals.
    pub fn fault(&self) -> Fault {
        SessionError::from(self.clone()).fault()
    }
}

impl From<SessionError> for StoreError {
    fn from(error: SessionError) -> Self {
        Self(Repr::Session(error))
    }
}

impl From<MemoryError> for StoreError {
    fn from(error: MemoryError) -> Self {
        Self(Repr::Memory(error))
    }
}

#[cfg(feature = "user-data")]
impl From<ScheduleError> for StoreError {
    fn from(error: ScheduleError) -> Self {
        Self(Repr::Schedule(error))
    }
}

#[cfg(feature = "user-data")]
impl From<WebhookError> for StoreError {
    fn from(error: WebhookError) -> Self {
        Self(Repr::Webhook(error))
    }
}

impl From<IdError> for StoreError {
    fn from(error: IdError) -> Self {
        Self::invalid(error.to_string())
    }
}

/// Makes an error of a contract of an error of a database.
macro_rules! convert {
    ($error:ident, $kinds:ident, $database:expr) => {{
        let Inner { kind, message, source } = &*$database;
        let kind = match kind {
            StoreErrorKind::NotFound => $kinds::NotFound,
            StoreErrorKind::AlreadyExists => $kinds::AlreadyExists,
            StoreErrorKind::InvalidState => $kinds::InvalidState,
            StoreErrorKind::InvalidInput => $kinds::InvalidInput,
            StoreErrorKind::Serialization => $kinds::Serialization,
            StoreErrorKind::Unavailable => $kinds::Unavailable,
            StoreErrorKind::Storage | StoreErrorKind::Session(_) | StoreErrorKind::Memory(_) => $kinds::Storage,
            #[cfg(feature = "user-data")]
            StoreErrorKind::Schedule(_) | StoreErrorKind::Webhook(_) => $kinds::Storage,
        };
        match source {
            Some(source) => $error::with_source(kind, message, Arc::clone(source)),
            None => $error::new(kind, message),
        }
    }};
}

impl From<StoreError> for SessionError {
    fn from(error: StoreError) -> Self {
        match error.0 {
            Repr::Session(error) => error,
            Repr::Database(error) => convert!(SessionError, SessionErrorKind, error),
            Repr::Memory(error) => Self::with_source(SessionErrorKind::Storage, "the store of memories failed", error),
            #[cfg(feature = "user-data")]
            Repr::Schedule(error) => {
                Self::with_source(SessionErrorKind::Storage, "the store of schedules failed", error)
            }
            #[cfg(feature = "user-data")]
            Repr::Webhook(error) => Self::with_source(SessionErrorKind::Storage, "the store of webhooks failed", error),
        }
    }
}

impl From<StoreError> for MemoryError {
    fn from(error: StoreError) -> Self {
        match error.0 {
            Repr::Memory(error) => error,
            Repr::Database(error) => convert!(MemoryError, MemoryErrorKind, error),
            Repr::Session(error) => Self::with_source(MemoryErrorKind::Storage, "the store of sessions failed", error),
            #[cfg(feature = "user-data")]
            Repr::Schedule(error) => {
                Self::with_source(MemoryErrorKind::Storage, "the store of schedules failed", error)
            }
            #[cfg(feature = "user-data")]
            Repr::Webhook(error) => Self::with_source(MemoryErrorKind::Storage, "the store of webhooks failed", error),
        }
    }
}

#[cfg(feature = "user-data")]
impl From<StoreError> for ScheduleError {
    fn from(error: StoreError) -> Self {
        match error.0 {
            Repr::Schedule(error) => error,
            Repr::Database(error) => convert!(ScheduleError, ScheduleErrorKind, error),
            Repr::Session(error) => {
                Self::with_source(ScheduleErrorKind::Storage, "the store of sessions failed", error)
            }
            Repr::Memory(error) => Self::with_source(ScheduleErrorKind::Storage, "the store of memories failed", error),
            Repr::Webhook(error) => {
                Self::with_source(ScheduleErrorKind::Storage, "the store of webhooks failed", error)
            }
        }
    }
}

#[cfg(feature = "user-data")]
impl From<StoreError> for WebhookError {
    fn from(error: StoreError) -> Self {
        match error.0 {
            Repr::Webhook(error) => error,
            Repr::Database(error) => convert!(WebhookError, WebhookErrorKind, error),
            Repr::Session(error) => Self::with_source(WebhookErrorKind::Storage, "the store of sessions failed", error),
            Repr::Memory(error) => Self::with_source(WebhookErrorKind::Storage, "the store of memories failed", error),
            Repr::Schedule(error) => {
                Self::with_source(WebhookErrorKind::Storage, "the store of schedules failed", error)
            }
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

/// Prints the kind and the message with all causes, because this is what `main` prints of an error that it returns.
impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message(), self.kind().as_str())?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Repr::Database(error) => {
                let source = error.source.as_deref();
                source.map(|source| source as &(dyn Error + 'static))
            }
            Repr::Session(error) => error.source(),
            Repr::Memory(error) => error.source(),
            #[cfg(feature = "user-data")]
            Repr::Schedule(error) => error.source(),
            #[cfg(feature = "user-data")]
            Repr::Webhook(error) => error.source(),
        }
    }
}
