//! [`Writer`]: the thread that writes, and commits all waiting writes together.

use std::panic::{AssertUnwindSafe, catch_unwind};

use agcore_memory::{MemoryError, MemoryErrorKind};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::{
    error::convert,
    thread::{self, gone, panicked},
};

/// The capacity of the queue of writes. When it is full, callers wait until there is space.
const QUEUE: usize = 1024;

/// The maximum number of writes that are committed together.
const BATCH: usize = 256;

/// Sends writes to the thread, which ends with the last sender.
#[derive(Debug)]
pub(super) struct Writer(mpsc::Sender<Message>);

enum Message {
    Write(Box<dyn Job>),
    /// Empty the write-ahead log, and send the result.
    TruncateLog(oneshot::Sender<Result<(), MemoryError>>),
}

/// A write that waits for its turn.
trait Job: Send {
    /// Runs the write in the current transaction. Returns whether it succeeded.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Reports the result: the write's own error, else that of the transaction.
    fn report(self: Box<Self>, failed: Option<MemoryError>);
}

struct Write<T, F> {
    job: Option<F>,
    result: Option<Result<T, MemoryError>>,
    done: oneshot::Sender<Result<T, MemoryError>>,
}

impl<T, F> Job for Write<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, MemoryError> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let Some(job) = self.job.take() else {
            return false;
        };
        let result = catch_unwind(AssertUnwindSafe(|| job(connection))).unwrap_or_else(|_| Err(panicked()));
        self.result.insert(result).is_ok()
    }

    fn report(self: Box<Self>, failed: Option<MemoryError>) {
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
        open: impl FnOnce() -> Result<Connection, MemoryError> + Send + 'static,
    ) -> Result<Self, MemoryError> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        thread::start("agcore-sqlite-writer", open, |connection| write_all(&connection, queue)).await?;
        Ok(Self(jobs))
    }

    /// Runs a write in a transaction and waits until it is committed. A write that fails is rolled back, and leaves the
    /// others of the transaction alone.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        let (done, result) = oneshot::channel();
        let job = Box::new(Write {
            job: Some(job),
            result: None,
            done,
        });
        self.0.send(Message::Write(job)).await.map_err(|_| gone())?;
        result.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Copies the write-ahead log into the database file and empties it.
    pub(super) async fn truncate_log(&self) -> Result<(), MemoryError> {
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
                batch.push(first);
                next = collect(&mut queue, &mut batch);
                let failed = write_batch(connection, &mut batch).err();
                for job in batch.drain(..) {
                    job.report(failed.clone());
                }
            }
        }
        next = next.or_else(|| queue.blocking_recv());
    }
}

/// Collects the writes that wait. Returns another message if one is in the way.
fn collect(queue: &mut mpsc::Receiver<Message>, batch: &mut Vec<Box<dyn Job>>) -> Option<Message> {
    while batch.len() < BATCH {
        match queue.try_recv().ok()? {
            Message::Write(job) => batch.push(job),
            other @ Message::TruncateLog(_) => return Some(other),
        }
    }
    None
}

fn truncate_log(connection: &Connection) -> Result<(), MemoryError> {
    let is_busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    match is_busy {
        Ok(false) => Ok(()),
        Ok(true) => Err(MemoryError::new(
            MemoryErrorKind::Unavailable,
            "the data is erased, but copies may be left in the write-ahead log, which others are reading: erase it again",
        )),
        Err(error) => Err(convert("cannot empty the write-ahead log", error)),
    }
}

/// Runs the writes in one transaction and commits it.
///
/// # Errors
/// When the transaction failed as a whole. Then nothing of it was written.
fn write_batch(connection: &Connection, jobs: &mut [Box<dyn Job>]) -> Result<(), MemoryError> {
    execute(connection, "BEGIN IMMEDIATE")?;
    let ran = match jobs {
        [job] => end(connection, job.run(connection)),
        jobs => jobs
            .iter_mut()
            .try_for_each(|job| in_savepoint(connection, &mut **job))
            .and_then(|()| end(connection, true)),
    };
    if !connection.is_autocommit() {
        // Nothing was committed. If this fails as well, the next transaction reports it.
        let _ = execute(connection, "ROLLBACK");
    }
    ran
}

/// Commits the transaction, or rolls it back.
fn end(connection: &Connection, is_ok: bool) -> Result<(), MemoryError> {
    check_transaction(connection)?;
    execute(connection, if is_ok { "COMMIT" } else { "ROLLBACK" })
}

/// Runs a write that can fail without consequences for the others.
fn in_savepoint(connection: &Connection, job: &mut dyn Job) -> Result<(), MemoryError> {
    execute(connection, "SAVEPOINT job")?;
    let is_ok = job.run(connection);
    check_transaction(connection)?;
    if !is_ok {
        execute(connection, "ROLLBACK TO job")?;
    }
    execute(connection, "RELEASE job")
}

/// Checks that the transaction is still open: SQLite itself ends it after some errors, such as a full disk.
fn check_transaction(connection: &Connection) -> Result<(), MemoryError> {
    match connection.is_autocommit() {
        false => Ok(()),
        true => Err(MemoryError::new(
            MemoryErrorKind::Storage,
            "nothing was written: another write of the same transaction failed",
        )),
    }
}

fn execute(connection: &Connection, sql: &str) -> Result<(), MemoryError> {
    let executed = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute([]));
    executed
        .map(drop)
        .map_err(|error| convert("cannot write to the database", error))
}
