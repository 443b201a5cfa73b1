//! Converts errors of Redis.

use std::io;

use redis::{ErrorKind, FromRedisValue, RedisError, Value, from_redis_value};

use crate::error::{StoreError, StoreErrorKind};

const CLUSTER: &str =
    "the server is part of a Redis Cluster, which is not supported; use a single server and its replicas";

const NOT_REDIS: (StoreErrorKind, &str) = (
    StoreErrorKind::Serialization,
    "the server sent something that is not an answer of Redis; check the address",
);

/// Converts an error of Redis, with what was attempted: `cannot save the items`.
#[cold]
pub(super) fn convert(attempt: &str, error: RedisError) -> StoreError {
    let (kind, reason) = reason(&error);
    StoreError::with_source(kind, format!("{attempt}: {reason}"), error)
}

/// Reads an answer. The error of the library is not kept: it quotes the answer, with the content of items.
pub(super) fn decoded<T: FromRedisValue>(attempt: &str, answer: Value) -> Result<T, StoreError> {
    from_redis_value(answer).map_err(|_| {
        let (kind, reason) = NOT_REDIS;
        StoreError::new(kind, format!("{attempt}: {reason}"))
    })
}

/// Returns the error of stored data that cannot be read.
#[cold]
pub(super) fn damaged(what: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Serialization, format!("{what} is damaged"))
}

/// Returns the error of a stored value whose JSON cannot be read.
#[cold]
pub(super) fn unreadable(what: &str, error: serde_json::Error) -> StoreError {
    let message = format!("{what} is damaged: its JSON cannot be read");
    StoreError::with_source(StoreErrorKind::Serialization, message, error)
}

/// Returns whether the connection must not be used any more.
pub(super) fn breaks_connection(error: &RedisError) -> bool {
    // After a timeout the server may be unreachable, and after a failover the server is a replica.
    error.is_unrecoverable_error() || error.is_io_error() || code(error) == Some("READONLY")
}

/// Returns whether connecting can succeed a moment later.
pub(super) fn is_temporary(error: &RedisError) -> bool {
    error.is_io_error() && !is_tls(error) || matches!(code(error), Some("LOADING" | "MASTERDOWN" | "TRYAGAIN"))
}

fn code(error: &RedisError) -> Option<&str> {
    error.code()
}

fn reason(error: &RedisError) -> (StoreErrorKind, &'static str) {
    use StoreErrorKind::{Storage, Unavailable};

    if let Some(reason) = code(error).and_then(of_code) {
        return reason;
    }
    let detail = error.detail().unwrap_or_default();
    if detail.contains("OOM command not allowed") {
        return of_code("OOM").unwrap_or((Storage, "the memory of the server is full"));
    }
    match error.kind() {
        ErrorKind::AuthenticationFailed => (
            Storage,
            "the server refuses the user or the password; check them in the URL",
        ),
        ErrorKind::RESP3NotSupported => (Storage, "the server is too old; use Redis 6 or newer"),
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => NOT_REDIS,
        _ if is_tls(error) => (
            Unavailable,
            "the TLS connection failed; check the certificate of the server and that it uses TLS",
        ),
        ErrorKind::Io if error.is_timeout() => (Unavailable, "the server did not answer in time; try again later"),
        ErrorKind::Io if error.is_connection_refusal() => (
            Unavailable,
            "the connection was refused; check the address and that the server runs",
        ),
        ErrorKind::Io => (
            Unavailable,
            "the connection failed; check the address and that the server runs",
        ),
        _ => (Storage, "Redis reported an error"),
    }
}

fn of_code(code: &str) -> Option<(StoreErrorKind, &'static str)> {
    use StoreErrorKind::{Serialization, Storage, Unavailable};

    Some(match code {
        "LOADING" => (Unavailable, "the server is still loading its data; try again later"),
        "BUSY" => (Unavailable, "the server is busy with a long script; try again later"),
        "READONLY" => (Unavailable, "the server is a read-only replica; connect to the primary"),
        "NOREPLICAS" => (
            Unavailable,
            "the server has fewer replicas than `min-replicas-to-write` demands; try again later",
        ),
        "MASTERDOWN" | "TRYAGAIN" => (Unavailable, "the server has lost its primary; try again later"),
        "OOM" => (
            Storage,
            "the memory of the server is full; delete data or raise `maxmemory`",
        ),
        "MISCONF" => (
            Storage,
            "the server cannot write to its disk and refuses writes; see its log",
        ),
        "NOAUTH" => (Storage, "the server requires a password; add it to the URL"),
        "WRONGPASS" => (
            Storage,
            "the server refuses the user or the password; check them in the URL",
        ),
        "NOPERM" => (
            Storage,
            "the user may not run a command or use a key; extend the rights of the user on the server",
        ),
        "WRONGTYPE" => (
            Serialization,
            "a key holds something else; another program seems to use the same prefix of keys",
        ),
        "DAMAGED" => (Serialization, "stored data cannot be read"),
        "MOVED" | "ASK" | "CROSSSLOT" | "CLUSTERDOWN" => (Storage, CLUSTER),
        _ => return None,
    })
}

/// Returns whether TLS failed, which rustls reports as an error of input and output.
fn is_tls(error: &RedisError) -> bool {
    let source = std::error::Error::source(error);
    let io = source.and_then(|source| source.downcast_ref::<std::sync::Arc<dyn std::error::Error + Send + Sync>>());
    let io = io.and_then(|error| error.downcast_ref::<io::Error>());
    io.is_some_and(|error| error.kind() == io::ErrorKind::InvalidData)
}

/// Returns the error of a server in a Redis Cluster.
#[cold]
pub(super) fn is_cluster(attempt: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Storage, format!("{attempt}: {CLUSTER}"))
}
