//! [`FileProblem`]: why a file could not be read.

use std::{error::Error, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// The number of characters of a file name that a problem shows.
const SHOWN_CHARS: usize = 100;

/// The kind of a [`FileProblem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileProblemKind {
    /// The content does not follow its format.
    Broken,
    /// The file is protected with a password.
    Encrypted,
    /// The file exceeds one of the [`Limits`](crate::Limits).
    LimitExceeded,
    /// Reading the file took longer than [`Limits::time`](crate::Limits::time).
    TimedOut,
    /// There is no parser for the file, or its feature is not enabled.
    Unsupported,
    /// The parser crashed. That is a defect of the parser, and concerns only this file.
    Crashed,
    /// The content could not be read from its storage.
    Unavailable,
    /// The file was read, but a part of its content was not.
    Incomplete,
}

/// Why a file could not be read: a record that can be stored and shown, and an error.
///
/// It contains nothing of the content of the file. The error of the parser is its [source](Error::source), which is not
/// serialized.
///
/// ```
/// use agcore_files::{FileProblem, FileProblemKind};
///
/// let problem = FileProblem::new("plan.pdf", FileProblemKind::Encrypted, "it is protected with a password; remove it");
/// assert_eq!(problem.to_string(), "cannot read \"plan.pdf\": it is protected with a password; remove it");
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[must_use]
pub struct FileProblem {
    file: String,
    kind: FileProblemKind,
    message: String,
    #[serde(skip)]
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl FileProblem {
    /// Creates a problem. The message states the problem of "it", the file, and what to do next.
    pub fn new(file: &str, kind: FileProblemKind, message: impl Into<String>) -> Self {
        Self {
            file: file.chars().take(SHOWN_CHARS).collect(),
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// Sets the error that caused the problem.
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(Arc::from(source.into()));
        self
    }

    /// Returns the name of the file, cut to at most 100 characters.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the kind.
    pub fn kind(&self) -> FileProblemKind {
        self.kind
    }

    /// Returns the message, without the name of the file.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FileProblemKind::Incomplete => write!(f, "a part of {:?} was not read: {}", self.file, self.message),
            _ => write!(f, "cannot read {:?}: {}", self.file, self.message),
        }
    }
}

impl Error for FileProblem {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.source.as_deref()?;
        Some(source)
    }
}

/// Two problems are equal if they say the same; their sources are not compared.
impl PartialEq for FileProblem {
    fn eq(&self, other: &Self) -> bool {
        (&self.file, self.kind, &self.message) == (&other.file, other.kind, &other.message)
    }
}

impl Eq for FileProblem {}
