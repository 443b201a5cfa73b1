//! Threads that own a connection, and the errors that they cause.

use std::thread;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::{StoreError, StoreErrorKind};

/// Starts a thread, opens its connection there, and waits until it is open.
///
/// # Errors
/// When the connection cannot be opened or the thread cannot be started.
pub(super) async fn start(
    name: &str,
    open: impl FnOnce() -> Result<Connection, StoreError> + Send + 'static,
    run: impl FnOnce(Connection) + Send + 'static,
) -> Result<(), StoreError> {
    let (opened, is_open) = oneshot::channel();
    let body = move || match open() {
        Ok(connection) => {
            let _ = opened.send(Ok(()));
            run(connection);
        }
        Err(error) => {
            let _ = opened.send(Err(error));
        }
    };
    spawn(name, body)?;
    is_open.await.unwrap_or_else(|_| Err(gone()))
}

/// Runs a job on a thread of its own and waits for its result.
///
/// # Errors
/// When the job fails or panics, or the thread cannot be started.
pub(super) async fn run<T: Send + 'static>(
    name: &str,
    job: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let (done, result) = oneshot::channel();
    let body = move || {
        // Nothing waits for the result any more if the future was dropped.
        let _ = done.send(job());
    };
    spawn(name, body)?;
    result.await.unwrap_or_else(|_| Err(panicked()))
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(body);
    thread.map(drop).map_err(|error| {
        StoreError::with_source(StoreErrorKind::Storage, "cannot start a thread of the database", error)
    })
}

/// Returns the error of a thread that has ended.
pub(super) fn gone() -> StoreError {
    StoreError::new(
        StoreErrorKind::Storage,
        "the thread of the database has ended; open the store again",
    )
}

/// Returns the error of a job that panicked.
pub(super) fn panicked() -> StoreError {
    StoreError::new(StoreErrorKind::Storage, "the operation panicked; nothing was written")
}
