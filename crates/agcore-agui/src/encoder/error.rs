//! [`EncodeError`]: an input that cannot follow the earlier ones.

use std::fmt;

/// The kind of an [`EncodeError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EncodeErrorKind {
    /// The run has not started.
    NotStarted,
    /// The run has started already.
    AlreadyStarted,
    /// The run has ended. Late events of a cancelled agent can be ignored.
    Ended,
    /// A step ends that is not open.
    UnknownStep,
    /// A run waits for nothing, or for two interrupts with the same id.
    Interrupts,
    /// The events are not those of one run in their order.
    Log,
}

/// An input that cannot follow the earlier ones. The encoder is unchanged and no event is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodeError {
    kind: EncodeErrorKind,
    message: String,
}

impl EncodeError {
    pub(crate) fn new(kind: EncodeErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> EncodeErrorKind {
        self.kind
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EncodeError {}
