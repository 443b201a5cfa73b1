//! Converts errors of SQLite.

use agcore_memory::{MemoryError, MemoryErrorKind};
use rusqlite::{Error, ErrorCode};

/// Converts an error of SQLite, with what was attempted: `cannot save the items`.
#[cold]
pub(super) fn convert(attempt: &str, error: Error) -> MemoryError {
    let (kind, reason) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            MemoryErrorKind::Unavailable,
            "another process holds the database for too long; try again later",
        ),
        Some(ErrorCode::DiskFull) => (MemoryErrorKind::Storage, "the disk or the database is full"),
        Some(ErrorCode::ReadOnly) => (
            MemoryErrorKind::Storage,
            "the database or its directory is read-only; check their permissions",
        ),
        Some(ErrorCode::DatabaseCorrupt) => (
            MemoryErrorKind::Storage,
            "the database file is damaged; restore it from a backup",
        ),
        Some(ErrorCode::NotADatabase) => (MemoryErrorKind::InvalidInput, "the file is not a SQLite database"),
        Some(ErrorCode::CannotOpen) => (
            MemoryErrorKind::Storage,
            "the file cannot be opened; check that its directory exists and is writable",
        ),
        None if is_unreadable(&error) => (
            MemoryErrorKind::Serialization,
            "a stored value is damaged, or was written by a newer version",
        ),
        _ => (MemoryErrorKind::Storage, "SQLite reported an error"),
    };
    MemoryError::with_source(kind, format!("{attempt}: {reason}"), error)
}

fn is_unreadable(error: &Error) -> bool {
    matches!(
        error,
        Error::FromSqlConversionFailure(..) | Error::InvalidColumnType(..) | Error::IntegralValueOutOfRange(..)
    )
}

/// Returns the error of a stored value that cannot be read.
#[cold]
pub(super) fn unreadable(what: &str, error: serde_json::Error) -> MemoryError {
    MemoryError::with_source(
        MemoryErrorKind::Serialization,
        format!("{what} is damaged: its JSON cannot be read"),
        error,
    )
}
