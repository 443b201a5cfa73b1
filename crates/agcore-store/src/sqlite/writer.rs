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

    /// Returns whether the write is a single statement. Such a statement takes back its own changes when it fails.
    fn is_statement(&self) -> bool;

    /// Reports the result: the write's own error, else that of the transaction.
    fn report(self: Box<Self>, failed: Option<MemoryError>);
}

struct Write<T, F> {
    is_statement: bool,
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

    fn is_statement(&self) -> bool {
        self.is_statement
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
        self.send(false, job).await
    }

    /// Runs a single statement, which is cheaper than other writes. Nothing may fail after the statement.
    pub(super) async fn run_statement<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        self.send(true, job).await
    }

    async fn send<T: Send + 'static>(
        &self,
        is_statement: bool,
        job: impl FnOnce(&Connection) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        let (done, result) = oneshot::channel();
        let job = Box::new(Write {
            is_statement,
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
) -> Result<(), MemoryError> {
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
        ran = match job.is_statement() {
            true => {
                job.run(connection);
                check_transaction(connection)
            }
            false => in_savepoint(connection, &mut *job),
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

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    type Receiver = oneshot::Receiver<Result<(), MemoryError>>;

    /// Returns a write of one row, which then fails if `fails` is set.
    fn insert(number: u32, fails: bool) -> (Box<dyn Job>, Receiver) {
        let (done, result) = oneshot::channel();
        let job = move |connection: &Connection| {
            let inserted = connection.execute("INSERT INTO numbers VALUES (?)", [number]);
            inserted.map_err(|error| convert("cannot insert", error))?;
            if fails {
                Err(MemoryError::not_found("no such row"))
            } else {
                Ok(())
            }
        };
        (write_of(false, job, done), result)
    }

    /// Returns a statement that inserts a row, or breaks a rule of the table.
    fn insert_as_statement(number: Option<u32>) -> (Box<dyn Job>, Receiver) {
        let (done, result) = oneshot::channel();
        let job = move |connection: &Connection| {
            let inserted = connection.execute("INSERT INTO numbers VALUES (1000), (?)", [number]);
            inserted.map(drop).map_err(|error| convert("cannot insert", error))
        };
        (write_of(true, job, done), result)
    }

    fn write_of(
        is_statement: bool,
        job: impl FnOnce(&Connection) -> Result<(), MemoryError> + Send + 'static,
        done: oneshot::Sender<Result<(), MemoryError>>,
    ) -> Box<dyn Job> {
        Box::new(Write {
            is_statement,
            job: Some(job),
            result: None,
            done,
        })
    }

    fn numbers(connection: &Connection) -> Vec<u32> {
        let mut select = connection.prepare("SELECT number FROM numbers ORDER BY 1").unwrap();
        let rows = select.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// Writes rows of which the first waits alone, and the others arrive while it runs. Returns whether each succeeded.
    fn write(connection: &Connection, fails: &[bool]) -> (Result<(), MemoryError>, Vec<bool>, usize) {
        let (jobs, results): (Vec<_>, Vec<_>) = iter::zip(1.., fails)
            .map(|(number, fails)| insert(number, *fails))
            .unzip();
        let (mut jobs, mut batch) = (jobs.into_iter(), Vec::new());
        let first = jobs.next().unwrap();
        let written = write_batch(connection, &mut batch, first, || jobs.next());
        let failed = written.as_ref().err().cloned();
        batch.drain(..).for_each(|job| job.report(failed.clone()));
        let left = jobs.count();
        let succeeded = results
            .into_iter()
            .map(|result| result.blocking_recv().is_ok_and(|result| result.is_ok()));
        (written, succeeded.collect(), left)
    }

    fn open() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE numbers (number NOT NULL)")
            .unwrap();
        connection
    }

    #[test]
    fn writes_that_arrive_during_a_transaction_join_it() {
        let connection = open();
        let (written, succeeded, left) = write(&connection, &[false, true, false]);
        assert!(written.is_ok() && connection.is_autocommit());
        assert_eq!((succeeded, left), (vec![true, false, true], 0));
        assert_eq!(numbers(&connection), [1, 3]);
    }

    #[test]
    fn a_first_write_that_fails_leaves_the_others_for_the_next_transaction() {
        let connection = open();
        let (written, _, left) = write(&connection, &[true, false]);
        assert!(written.is_ok() && connection.is_autocommit());
        assert_eq!((numbers(&connection), left), (vec![], 1));
    }

    #[test]
    fn a_statement_that_fails_leaves_the_others_alone() {
        let connection = open();
        let (jobs, results): (Vec<_>, Vec<_>) = [
            insert(1, false),
            insert_as_statement(None),
            insert_as_statement(Some(2)),
        ]
        .into_iter()
        .unzip();
        let (mut jobs, mut batch) = (jobs.into_iter(), Vec::new());
        let first = jobs.next().unwrap();
        write_batch(&connection, &mut batch, first, || jobs.next()).unwrap();
        batch.drain(..).for_each(|job| job.report(None));
        let succeeded = results
            .into_iter()
            .map(|result| result.blocking_recv().unwrap().is_ok());
        assert_eq!(succeeded.collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(numbers(&connection), [1, 2, 1000]);
    }

    #[test]
    fn a_batch_is_limited() {
        let connection = open();
        let (written, _, left) = write(&connection, &[false; BATCH + 1]);
        assert!(written.is_ok());
        assert_eq!((numbers(&connection).len(), left), (BATCH, 1));
    }

    #[test]
    fn a_transaction_that_cannot_start_fails_all_that_wait() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("locked.db");
        let [connection, other] = [(); 2].map(|()| Connection::open(&path).unwrap());
        connection.busy_timeout(std::time::Duration::ZERO).unwrap();
        other
            .execute_batch("CREATE TABLE numbers (number); BEGIN IMMEDIATE")
            .unwrap();
        let (written, succeeded, left) = write(&connection, &[false, false]);
        assert!(written.unwrap_err().is_recoverable());
        assert_eq!((succeeded, left), (vec![false, false], 0));
    }
}
