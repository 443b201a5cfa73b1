//! Converts errors of SQLite.

use rusqlite::{Error, ErrorCode};

use crate::error::{StoreError, StoreErrorKind};

/// Converts an error of SQLite, with what was attempted: `cannot save the items`.
#[cold]
pub(super) fn convert(attempt: &str, error: Error) -> StoreError {
    let (kind, reason) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            StoreErrorKind::Unavailable,
            "another process holds the database for too long; try again later",
        ),
        Some(ErrorCode::DiskFull) => (StoreErrorKind::Storage, "the disk or the database is full"),
        // The index of the write-ahead log cannot grow.
        _ if is_without_space(&error) => (StoreErrorKind::Storage, "the disk is full"),
        Some(ErrorCode::ReadOnly) => (
            StoreErrorKind::Storage,
            "the database or its directory is read-only; check their permissions",
        ),
        Some(ErrorCode::DatabaseCorrupt) => (
            StoreErrorKind::Storage,
            "the database file is damaged; restore it from a backup",
        ),
        Some(ErrorCode::NotADatabase) => (StoreErrorKind::InvalidInput, "the file is not a SQLite database"),
        Some(ErrorCode::CannotOpen) => (
            StoreErrorKind::Storage,
            "the file cannot be opened; check that its directory exists and is writable",
        ),
        None if is_unreadable(&error) => (
            StoreErrorKind::Serialization,
            "a stored value is damaged, or was written by a newer version",
        ),
        _ => (StoreErrorKind::Storage, "SQLite reported an error"),
    };
    StoreError::with_source(kind, format!("{attempt}: {reason}"), error)
}

/// Returns whether SQLite found no space in another way than by writing to the database.
fn is_without_space(error: &Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

fn is_unreadable(error: &Error) -> bool {
    matches!(
        error,
        Error::FromSqlConversionFailure(..) | Error::InvalidColumnType(..) | Error::IntegralValueOutOfRange(..)
    )
}

/// Returns the error of a stored value that cannot be read.
#[cold]
pub(super) fn unreadable(what: &str, error: serde_json::Error) -> StoreError {
    StoreError::with_source(
        StoreErrorKind::Serialization,
        format!("{what} is damaged: its JSON cannot be read"),
        error,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named() {
        for code in [rusqlite::ffi::SQLITE_FULL, rusqlite::ffi::SQLITE_IOERR_SHMSIZE] {
            let error = Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            let error = convert("cannot save the items", error);
            assert!(error.message().contains("full"), "{error}");
        }
    }
}
