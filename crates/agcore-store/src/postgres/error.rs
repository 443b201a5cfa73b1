//! Converts errors of PostgreSQL and its driver.

use std::error::Error as StdError;

use sqlx::{
    Error,
    postgres::{PgDatabaseError, PgSeverity},
};

use crate::error::{StoreError, StoreErrorKind};

const CONNECTION_LOST: &str =
    "the connection to the PostgreSQL server was lost; try again later. A write may have taken place";

const READ_ONLY: &str = "the database is read-only, as between a standby and a primary server; try again later, and check that it \
                         is the primary server and default_transaction_read_only is off";

/// Converts an error of an operation, with what was attempted: `cannot save the items`.
#[cold]
pub(super) fn convert(attempt: &str, error: Error) -> StoreError {
    let (kind, reason) = match &error {
        Error::Database(database) => by_state(&database.code().unwrap_or_default()),
        // The driver reports an end of the connection within a message as unexpected data.
        Error::Io(_) | Error::Tls(_) | Error::Protocol(_) => (StoreErrorKind::Unavailable, CONNECTION_LOST),
        Error::ColumnDecode { .. } | Error::Decode(_) => (
            StoreErrorKind::Serialization,
            "a stored value is damaged, or was written by a newer version",
        ),
        _ => (StoreErrorKind::Storage, "the driver of PostgreSQL reported an error"),
    };
    StoreError::with_source(kind, format!("{attempt}: {reason}"), cause(error))
}

/// Adds what was attempted to an error.
#[cold]
pub(super) fn attempted(attempt: &str, error: &StoreError) -> StoreError {
    let message = format!("{attempt}: {}", error.message());
    match error.source() {
        Some(source) => StoreError::with_source(error.kind(), message, source.to_string()),
        None => StoreError::new(error.kind(), message),
    }
}

/// Returns the error of a store that is closed.
#[cold]
pub(super) fn closed(attempt: &str) -> StoreError {
    StoreError::new(
        StoreErrorKind::Storage,
        format!("{attempt}: the store is closed; open it again"),
    )
}

/// Returns whether the connection cannot be used any more after an error.
pub(super) fn is_fatal(error: &Error) -> bool {
    match error {
        // The next connection may be one to the new primary server.
        Error::Database(error) if matches!(error.code().as_deref(), Some("25006" | "55000")) => true,
        Error::Database(error) => {
            let severity = error
                .try_downcast_ref::<PgDatabaseError>()
                .map(PgDatabaseError::severity);
            !matches!(severity, Some(PgSeverity::Error))
        }
        Error::Encode(_) | Error::InvalidArgument(_) => false,
        _ => true,
    }
}

/// Returns the error below the driver's, whose text repeats it.
pub(super) fn cause(error: Error) -> Box<dyn StdError + Send + Sync> {
    match error {
        Error::Database(error) => Box::new(error),
        Error::Io(error) => Box::new(error),
        Error::Tls(error) => error,
        other => Box::new(other),
    }
}

/// Returns the error of a server that does not answer.
#[cold]
pub(super) fn no_answer(attempt: &str) -> StoreError {
    StoreError::new(
        StoreErrorKind::Unavailable,
        format!("{attempt}: the PostgreSQL server does not answer; try again later. A write may have taken place"),
    )
}

/// Returns the error of a server that takes no writes.
#[cold]
pub(super) fn standby(attempt: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, format!("{attempt}: {READ_ONLY}"))
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

/// Returns the error of a value that cannot be written as JSON.
#[cold]
pub(super) fn unwritable(what: &str, error: serde_json::Error) -> StoreError {
    StoreError::with_source(
        StoreErrorKind::InvalidInput,
        format!("{what} cannot be written as JSON"),
        error,
    )
}

/// Returns kind and reason by the SQLSTATE of an error.
pub(super) fn by_state(state: &str) -> (StoreErrorKind, &'static str) {
    use StoreErrorKind::{InvalidInput, InvalidState, Storage, Unavailable};
    match state {
        "57014" => (
            Unavailable,
            "the statement took too long and was canceled, for example because others hold locks; try again later",
        ),
        "55P03" | "40P01" | "40001" => (Unavailable, "others hold the locks that are needed; try again later"),
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" => (
            Unavailable,
            "the PostgreSQL server ended the connection or is starting up; try again later. A write may have taken place",
        ),
        "53300" => (
            Unavailable,
            "the PostgreSQL server has too many connections; try again later, use fewer connections or raise max_connections",
        ),
        "53100" => (Storage, "the disk of the PostgreSQL server is full"),
        // The usual state between two primary servers.
        "25006" => (Unavailable, READ_ONLY),
        "55000" | "55006" => (
            Unavailable,
            "the database takes no connections or changes at the moment; try again later, and check that it is allowed to",
        ),
        "42501" => (
            Storage,
            "the user lacks a privilege; grant it CREATE on the database, or ownership of the schema and its tables",
        ),
        "42P01" | "3F000" | "42703" | "42883" => (
            Storage,
            "the tables are missing or were changed by another program; open the store again or restore a backup",
        ),
        "23502" | "23503" | "23505" | "23514" => (InvalidState, "the change breaks a rule of the tables"),
        "54000" => (InvalidInput, "a value is too large for PostgreSQL"),
        "XX001" | "XX002" => (
            Storage,
            "data of the PostgreSQL server is damaged; restore it from a backup",
        ),
        _ if state.starts_with("08") => (Unavailable, CONNECTION_LOST),
        _ if state.starts_with("53") => (Unavailable, "the PostgreSQL server lacks resources; try again later"),
        _ => (Storage, "PostgreSQL reported an error"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_by_itself_is_an_outage() {
        for state in [
            "08000", "08001", "08003", "08004", "08006", "08P01", "25006", "40001", "40P01", "53000", "53200", "53300",
            "55000", "55006", "55P03", "57014", "57P01", "57P02", "57P03", "57P04", "57P05",
        ] {
            assert_eq!(by_state(state).0, StoreErrorKind::Unavailable, "{state}");
        }
        for state in ["53100", "42501", "42P01", "XX001", "28P01"] {
            assert_eq!(by_state(state).0, StoreErrorKind::Storage, "{state}");
        }
    }
}
