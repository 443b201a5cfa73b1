//! Failures of stores, settings and the terminal.

use std::error::Error;

use agcore::{
    memory::MemoryError,
    session::SessionError,
    store::{StoreError, StoreErrorKind},
};
use agcore_settings::{SettingsError, secrets::SecretError};
use agcore_terminal::TerminalError;

use super::{Failure, FailureKind};

/// An unacceptable file is the user's to change; a database that is held by another process can be tried again.
impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        use StoreErrorKind::{AlreadyExists, InvalidInput, NotFound, Serialization, Unavailable};

        let (kind, advice) = match error.kind() {
            NotFound => (FailureKind::Usage, Some("`agcore store migrate` creates a database.")),
            AlreadyExists => (FailureKind::Usage, Some("Pass --force to replace it.")),
            InvalidInput | Serialization => (FailureKind::Usage, None),
            Unavailable => (FailureKind::Unreachable, None),
            _ => (FailureKind::Task, None),
        };
        let causes = std::iter::successors(error.source(), |&cause| cause.source());
        let message = causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
        Self {
            advice: advice.map(str::to_owned),
            ..Self::new(kind, message)
        }
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        StoreError::from(error).into()
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        StoreError::from(error).into()
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<SecretError> for Failure {
    fn from(error: SecretError) -> Self {
        Self::task(error.to_string())
    }
}

/// A reader of the output that has gone away, as `head` does, is not reported.
impl From<TerminalError> for Failure {
    fn from(error: TerminalError) -> Self {
        match error {
            TerminalError::Output(error) => Self::output(&error),
            error => Self::task(error.to_string()),
        }
    }
}
