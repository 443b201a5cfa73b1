//! [`StorageError`]: why a storage could not do what it was asked for.

use std::{error::Error, fmt};

/// The kind of a [`StorageError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StorageErrorKind {
    /// The path cannot be the path of a file in the storage.
    InvalidPath,
    /// There is no file with this path.
    NotFound,
    /// The file is larger than was asked for.
    TooLarge,
    /// The storage refuses the request: the bucket, the region or the keys are wrong. The same call will not succeed later.
    Misconfigured,
    /// The storage cannot be read or written. The same call may succeed later.
    Unavailable,
}

/// A storage that could not do what it was asked for.
#[derive(Debug)]
pub struct StorageError {
    kind: StorageErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StorageError {
    /// Creates an error. The message states what happened and what to do next.
    pub fn new(kind: StorageErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// Sets the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> StorageErrorKind {
        self.kind
    }

    /// Returns whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.kind == StorageErrorKind::Unavailable
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for StorageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.source.as_deref()?;
        Some(source)
    }
}
