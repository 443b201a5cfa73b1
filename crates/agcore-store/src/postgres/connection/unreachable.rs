//! Errors of connections that cannot be opened.

use std::io::ErrorKind;

use sqlx::Error;

use super::url::ServerUrl;
use crate::{
    error::{StoreError, StoreErrorKind},
    postgres::error::{by_state, cause},
};

const NOT_ENCRYPTED: &str = "no encrypted connection could be made; check the certificates, or the sslmode of the URL";

/// Converts an error of a connection that could not be opened.
#[cold]
pub(super) fn cannot_connect(server: &ServerUrl, error: Error) -> StoreError {
    let (user, database) = (server.user(), server.database());
    let (kind, reason) = match &error {
        Error::Io(io) => match io.kind() {
            ErrorKind::ConnectionRefused => (
                StoreErrorKind::Unavailable,
                "nothing accepts connections there; check that the server runs, and host and port".to_owned(),
            ),
            // A failed handshake of TLS.
            ErrorKind::InvalidData => (StoreErrorKind::Storage, NOT_ENCRYPTED.to_owned()),
            _ => (
                StoreErrorKind::Unavailable,
                "it cannot be reached; check host, port and network".to_owned(),
            ),
        },
        Error::Tls(_) => (StoreErrorKind::Storage, NOT_ENCRYPTED.to_owned()),
        Error::Database(refusal) => match &*refusal.code().unwrap_or_default() {
            "28P01" | "28000" => (
                StoreErrorKind::Storage,
                format!("it does not let in the user `{user}`; check user and password, and the server's pg_hba.conf"),
            ),
            "3D000" => (
                StoreErrorKind::Storage,
                format!("the database `{database}` does not exist; create it or change the URL"),
            ),
            state => {
                let (kind, reason) = by_state(state);
                (kind, reason.to_owned())
            }
        },
        _ => (
            StoreErrorKind::Unavailable,
            "the answer is not that of a PostgreSQL server; check host and port".to_owned(),
        ),
    };
    let attempt = cannot_connect_to(server);
    StoreError::with_source(kind, format!("{attempt}: {reason}"), cause(error))
}

/// Returns the error of a server that does not let a connection be opened in time.
#[cold]
pub(super) fn unreachable(server: &ServerUrl) -> StoreError {
    let attempt = cannot_connect_to(server);
    StoreError::new(
        StoreErrorKind::Unavailable,
        format!("{attempt}: it does not answer; check host, port and network, or try again later"),
    )
}

fn cannot_connect_to(server: &ServerUrl) -> String {
    format!("cannot connect to the PostgreSQL server at {server}")
}
