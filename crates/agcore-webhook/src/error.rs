//! [`WebhookError`]: the error of webhooks and of their stores.

use std::{error::Error, fmt, sync::Arc};

use agcore_chat::{Fault, FaultKind, id::IdError};

/// An error of a webhook or of a store of webhooks.
///
/// [`Display`](fmt::Display) prints one layer; the cause is in [`source`](Error::source). Messages never contain the
/// credentials of a database. Cheap to clone.
///
/// ```
/// use agcore_webhook::{SigningSecret, WebhookErrorKind};
///
/// let error = SigningSecret::parse("whsec_c2hvcnQ=").unwrap_err();
/// assert_eq!(error.kind(), WebhookErrorKind::InvalidInput);
/// assert!(error.message().contains("has 5 bytes"));
/// ```
#[derive(Clone)]
pub struct WebhookError(Arc<Inner>);

struct Inner {
    kind: WebhookErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The reason for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WebhookErrorKind {
    /// The webhook or the message does not exist.
    NotFound,
    /// The webhook to create exists already.
    AlreadyExists,
    /// The change does not fit the stored data, or breaks a rule of the tables.
    InvalidState,
    /// Another writer was faster: the webhook has another revision than expected.
    Conflict {
        /// The revision that the writer expected.
        expected: u64,
        /// The revision of the webhook.
        found: u64,
    },
    /// A timing, an id or a value is not acceptable. Nothing was stored.
    InvalidInput,
    /// Stored data cannot be read: it is damaged, or was written by a newer version.
    Serialization,
    /// The storage failed: a full disk, a file that cannot be written, an error of the database.
    Storage,
    /// The storage cannot be reached at the moment, or is locked.
    Unavailable,
}

impl WebhookErrorKind {
    /// Returns the name of the kind in logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::InvalidState => "invalid_state",
            Self::Conflict { .. } => "conflict",
            Self::InvalidInput => "invalid_input",
            Self::Serialization => "serialization",
            Self::Storage => "storage",
            Self::Unavailable => "unavailable",
        }
    }
}

impl WebhookError {
    /// Creates an error.
    #[cold]
    pub fn new(kind: WebhookErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            source: None,
        }))
    }

    /// Creates an error with a cause.
    #[cold]
    pub fn with_source(
        kind: WebhookErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            source: Some(source.into()),
        }))
    }

    /// Creates an [`InvalidInput`](WebhookErrorKind::InvalidInput) error.
    #[cold]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(WebhookErrorKind::InvalidInput, message)
    }

    /// Creates a [`NotFound`](WebhookErrorKind::NotFound) error for the webhook with an id.
    #[cold]
    pub fn not_found(id: &str) -> Self {
        Self::new(
            WebhookErrorKind::NotFound,
            format!("there is no webhook with the id `{id}`"),
        )
    }

    /// Creates a [`NotFound`](WebhookErrorKind::NotFound) error for the message with an id.
    #[cold]
    pub fn delivery_not_found(id: &str) -> Self {
        Self::new(
            WebhookErrorKind::NotFound,
            format!("the webhook has no message with the id `{id}`"),
        )
    }

    /// Creates an [`AlreadyExists`](WebhookErrorKind::AlreadyExists) error for the webhook with an id.
    #[cold]
    pub fn already_exists(id: &str) -> Self {
        Self::new(
            WebhookErrorKind::AlreadyExists,
            format!("there is a webhook with the id `{id}` already; choose another id, or change that one"),
        )
    }

    /// Creates a [`Conflict`](WebhookErrorKind::Conflict) error for the webhook with an id.
    #[cold]
    pub fn conflict(id: &str, expected: u64, found: u64) -> Self {
        let message = format!(
            "the webhook `{id}` has the revision {found}, not {expected}: somebody has changed it; read it again and retry"
        );
        Self::new(WebhookErrorKind::Conflict { expected, found }, message)
    }

    /// Returns the reason for the error.
    pub fn kind(&self) -> WebhookErrorKind {
        self.0.kind
    }

    /// Returns the message without its cause.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns whether the same operation can succeed later. After a conflict the webhook has to be read first.
    pub fn is_recoverable(&self) -> bool {
        matches!(
            self.0.kind,
            WebhookErrorKind::Conflict { .. } | WebhookErrorKind::Unavailable
        )
    }

    /// Converts the error into serializable data for events and journals.
    pub fn fault(&self) -> Fault {
        let kind = match self.0.kind {
            WebhookErrorKind::NotFound => FaultKind::NotFound,
            WebhookErrorKind::InvalidInput | WebhookErrorKind::AlreadyExists | WebhookErrorKind::InvalidState => {
                FaultKind::InvalidRequest
            }
            WebhookErrorKind::Conflict { .. } => FaultKind::Conflict,
            WebhookErrorKind::Serialization | WebhookErrorKind::Storage | WebhookErrorKind::Unavailable => {
                FaultKind::Storage
            }
        };
        Fault::new(kind, self.to_string()).with_retryable(self.0.kind == WebhookErrorKind::Unavailable)
    }
}

impl fmt::Display for WebhookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

/// Prints the kind and the message with all causes, because this is what `main` prints of an error that it returns.
impl fmt::Debug for WebhookError {
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

impl Error for WebhookError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.0.source.as_deref();
        source.map(|source| source as &(dyn Error + 'static))
    }
}

impl From<IdError> for WebhookError {
    fn from(error: IdError) -> Self {
        Self::invalid(error.to_string())
    }
}
