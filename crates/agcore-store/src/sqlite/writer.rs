//! [`Writer`]: the thread that writes, and commits all waiting writes together.

#[cfg(test)]
mod tests;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::{
    error::convert,
    thread::{self, gone, panicked},
};
use crate::error::{StoreError, StoreErrorKind};

/// The capacity of the queue of writes. When it is full, callers wait until there is space.
const QUEUE: usize = 1024;

/// The maximum number of writes that are committed together.
const BATCH: usize = 256;

/// The pause before the next attempt to empty the write-ahead log.
const PAUSE: Duration = Duration::from_millis(2);

/// Sends writes to the thread, which ends with the last sender.
#[derive(Debug)]
pub(super) struct Writer(mpsc::Sender<Message>);

enum Message {
    Write(Box<dyn Job>),
    /// Empty the write-ahead log, and send the result.
    TruncateLog(oneshot::Sender<Result<(), StoreError>>),
}

/// A write that waits for its turn.
trait Job: Send {
    /// Runs the write in the current transaction. Returns whether it succeeded.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Returns what it takes to undo the write if it fails.
    fn undo(&self) -> Undo;

    /// Reports the result: the write's own error, else that of the transaction.
    fn report(self: Box<Self>, failed: Option<StoreError>);
}

/// The means to undo a write that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Undo {
    /// A savepoint, for which SQLite copies each page before it changes.
    Savepoint,
    /// Nothing: the write is a single statement, which takes back its own changes when it fails.
    Nothing,
    /// The whole transaction, if the write has changed anything before it failed.
    Transaction,
}

struct Write<T, F> {
    undo: Undo,
    job: Option<F>,
    result: Option<Result<T, StoreError>>,
    done: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for Write<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let Some(job) = self.job.take() else {
            return false;
        };
        let result = catch_unwind(AssertUnwindSafe(|| job(connection))).unwrap_or_else(|_| Err(panicked()));
        self.result.insert(result).is_ok()
    }

    fn undo(&self) -> Undo {
        self.undo
    }

    fn report(self: Box<Self>, failed: Option<StoreError>) {
        let result = match (self.result, failed) {
            (Some(Ok(_)) | None, Some(failed)) => Err(failed),
            (Some(result), _) => result,
            (None, None) => Err(gone()),
        };
        // Nothing waits for the result any more if the future was dropped.
        let _ = self.done.send(result);
    }
}

impl Writer {
    /// Starts the thread with the connection that this function opens.
    ///
    /// # Errors
    /// When the connection cannot be opened or the thread cannot be started.
    pub(super) async fn start(
        open: impl FnOnce() -> Result<Connection, StoreError> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        thread::start("agcore-sqlite-writer", open, |connection| write_all(&connection, queue)).await?;
        Ok(Self(jobs))
    }

    /// Runs a write in a transaction and waits until it is committed. A write that fails is rolled back, and leaves the
    /// others of the transaction alone.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.send(Undo::Savepoint, job).await
    }

    /// Runs a single statement, which is cheaper than other writes. Nothing may fail after the statement.
    pub(super) async fn run_statement<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.send(Undo::Nothing, job).await
    }

    /// Runs a write that checks everything before it changes data, so that it then fails only for a reason that stops the other
    /// writes of the transaction as well, such as a full disk. It fails together with them, and is cheaper than with
    /// [`run`](Self::run).
    pub(super) async fn run_checked<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.send(Undo::Transaction, job).await
    }

    async fn send<T: Send + 'static>(
        &self,
        undo: Undo,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (done, result) = oneshot::channel();
        let job = Box::new(Write {
            undo,
            job: Some(job),
            result: None,
            done,
        });
        self.0.send(Message::Write(job)).await.map_err(|_| gone())?;
        result.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Copies the write-ahead log into the database file and empties it.
    pub(super) async fn truncate_log(&self) -> Result<(), StoreError> {
        let (done, result) = oneshot::channel();
        self.0.send(Message::TruncateLog(done)).await.map_err(|_| gone())?;
        result.await.unwrap_or_else(|_| Err(gone()))
    }
}

fn write_all(connection: &Connection, mut queue: mpsc::Receiver<Message>) {
    let mut batch: Vec<Box<dyn Job>> = Vec::with_capacity(BATCH);
    let mut next = queue.blocking_recv();
    while let Some(message) = next.take() {
        match message {
            Message::TruncateLog(done) => {
                let _ = done.send(truncate_log(connection));
            }
            Message::Write(first) => {
                let waiting = || match queue.try_recv().ok()? {
                    Message::Write(job) => Some(job),
                    other @ Message::TruncateLog(_) => {
                        next = Some(other);
                        None
                    }
                };
                let failed = write_batch(connection, &mut batch, first, waiting).err();
                for job in batch.drain(..) {
                    job.report(failed.clone());
                }
            }
        }
        next = next.or_else(|| queue.blocking_recv());
    }
}

fn truncate_log(connection: &Connection) -> Result<(), StoreError> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, u32>(0));
    let failed = |error| convert("cannot empty the write-ahead log", error);
    let patience = Duration::from_millis(number("PRAGMA busy_timeout").map_err(failed)?.into());
    let begin = Instant::now();
    loop {
        let is_busy = number("PRAGMA wal_checkpoint(TRUNCATE)").map_err(failed)? != 0;
        match is_busy {
            false => return Ok(()),
            // SQLite itself waits for readers, but not for others who are emptying the log.
            true if begin.elapsed() < patience => std::thread::sleep(PAUSE),
            true => {
                return Err(StoreError::new(
                    StoreErrorKind::Unavailable,
                    "the data is erased, but copies may be left in the write-ahead log, which others are reading: erase it again",
                ));
            }
        }
    }
}

/// Runs a write and those that wait in one transaction, and commits it. Writes that arrive meanwhile join it: after a
/// commit, its writers send their next writes while the first of these runs already. Adds all that ran to the batch.
///
/// # Errors
/// When the transaction failed as a whole. Then nothing of it was written.
fn write_batch(
    connection: &Connection,
    batch: &mut Vec<Box<dyn Job>>,
    mut first: Box<dyn Job>,
    mut waiting: impl FnMut() -> Option<Box<dyn Job>>,
) -> Result<(), StoreError> {
    if let Err(error) = execute(connection, "BEGIN IMMEDIATE") {
        // Those that waited meanwhile would fail for the same reason, each after its own time.
        batch.push(first);
        batch.extend(std::iter::from_fn(waiting).take(BATCH - 1));
        return Err(error);
    }
    // A write that fails as the first one is rolled back alone, so that it needs no savepoint.
    let is_ok = first.run(connection);
    batch.push(first);
    let mut ran = Ok(());
    while is_ok
        && ran.is_ok()
        && batch.len() < BATCH
        && let Some(mut job) = waiting()
    {
        ran = match job.undo() {
            Undo::Savepoint => in_savepoint(connection, &mut *job),
            Undo::Nothing => {
                job.run(connection);
                check_transaction(connection)
            }
            Undo::Transaction => in_transaction(connection, &mut *job),
        };
        batch.push(job);
    }
    let ended = ran.and_then(|()| end(connection, is_ok));
    if !connection.is_autocommit() {
        // Nothing was committed. If this fails as well, the next transaction reports it.
        let _ = execute(connection, "ROLLBACK");
    }
    ended
}

/// Commits the transaction, or rolls it back.
fn end(connection: &Connection, is_ok: bool) -> Result<(), StoreError> {
    check_transaction(connection)?;
    execute(connection, if is_ok { "COMMIT" } else { "ROLLBACK" })
}

/// Runs a write that can fail without consequences for the others.
fn in_savepoint(connection: &Connection, job: &mut dyn Job) -> Result<(), StoreError> {
    execute(connection, "SAVEPOINT job")?;
    let is_ok = job.run(connection);
    check_transaction(connection)?;
    if !is_ok {
        execute(connection, "ROLLBACK TO job")?;
    }
    execute(connection, "RELEASE job")
}

/// Runs a write that fails the whole transaction if it fails after a change.
fn in_transaction(connection: &Connection, job: &mut dyn Job) -> Result<(), StoreError> {
    let before = connection.total_changes();
    let is_ok = job.run(connection);
    check_transaction(connection)?;
    match is_ok || connection.total_changes() == before {
        true => Ok(()),
        false => Err(failed_together()),
    }
}

/// Checks that the transaction is still open: SQLite itself ends it after some errors, such as a full disk.
fn check_transaction(connection: &Connection) -> Result<(), StoreError> {
    match connection.is_autocommit() {
        false => Ok(()),
        true => Err(failed_together()),
    }
}

/// Returns the error of writes that are not to blame: the next attempt is in another transaction, so it may succeed.
fn failed_together() -> StoreError {
    StoreError::new(
        StoreErrorKind::Unavailable,
        "nothing was written: another write of the same transaction failed; try again",
    )
}

fn execute(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    let executed = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute([]));
    executed
        .map(drop)
        .map_err(|error| convert("cannot write to the database", error))
}
