//! [`RuntimeStateError`]: a stored state that cannot be read, or a record that does not fit.

use std::{error::Error, fmt};

/// The kind of a [`RuntimeStateError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuntimeStateErrorKind {
    /// The state was written by a newer version of the program.
    NewerVersion,
    /// The stored state does not have the form of its version.
    Invalid,
    /// No turn has started.
    NoTurn,
}

/// A stored state that cannot be read, or a record that does not fit.
#[derive(Debug)]
pub struct RuntimeStateError {
    kind: RuntimeStateErrorKind,
    message: String,
    source: Option<serde_json::Error>,
}

impl RuntimeStateError {
    pub(super) fn new(kind: RuntimeStateErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    pub(super) fn invalid(source: serde_json::Error) -> Self {
        Self {
            kind: RuntimeStateErrorKind::Invalid,
            message: "the stored state does not have the form of its version; begin a new conversation".to_owned(),
            source: Some(source),
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> RuntimeStateErrorKind {
        self.kind
    }
}

impl fmt::Display for RuntimeStateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for RuntimeStateError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.source.as_ref()?;
        Some(source)
    }
}
