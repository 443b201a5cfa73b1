//! [`CheckError`]: why a check did not pass.

use std::{error::Error, fmt};

/// The reason why a check did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckError {
    /// The check is not possible with this subject.
    Skip(String),
    /// The provider does not behave as required.
    Fail(String),
}

impl CheckError {
    /// Creates an error for a check that is not possible with this subject.
    pub fn skip(reason: impl Into<String>) -> Self {
        Self::Skip(reason.into())
    }

    /// Creates an error for a provider that does not behave as required.
    pub fn fail(reason: impl Into<String>) -> Self {
        Self::Fail(reason.into())
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skip(reason) => write!(f, "skipped: {reason}"),
            Self::Fail(reason) => write!(f, "failed: {reason}"),
        }
    }
}

impl Error for CheckError {}

/// Fails with a reason unless `condition` is true.
pub(super) fn ensure(condition: bool, reason: impl FnOnce() -> String) -> Result<(), CheckError> {
    if condition {
        Ok(())
    } else {
        Err(CheckError::Fail(reason()))
    }
}

/// Fails unless `found` equals `expected`. `name` describes the compared value.
pub(super) fn ensure_equal<T>(name: &str, found: &T, expected: &T) -> Result<(), CheckError>
where
    T: PartialEq + fmt::Debug + ?Sized,
{
    ensure(found == expected, || {
        format!("{name}: found {found:?}, expected {expected:?}")
    })
}
