//! Tests of transactions with several writes.

use std::iter;

use super::*;

type Receiver = oneshot::Receiver<Result<(), StoreError>>;

/// Returns a write of one row, which then fails if `fails` is set.
fn insert(number: u32, fails: bool) -> (Box<dyn Job>, Receiver) {
    let (done, result) = oneshot::channel();
    let job = move |connection: &Connection| {
        let inserted = connection.execute("INSERT INTO numbers VALUES (?)", [number]);
        inserted.map_err(|error| convert("cannot insert", error))?;
        if fails {
            Err(StoreError::not_found("no such row"))
        } else {
            Ok(())
        }
    };
    (write_of(Undo::Savepoint, job, done), result)
}

/// Returns a statement that inserts a row, or breaks a rule of the table.
fn insert_as_statement(number: Option<u32>) -> (Box<dyn Job>, Receiver) {
    let (done, result) = oneshot::channel();
    let job = move |connection: &Connection| {
        let inserted = connection.execute("INSERT INTO numbers VALUES (1000), (?)", [number]);
        inserted.map(drop).map_err(|error| convert("cannot insert", error))
    };
    (write_of(Undo::Nothing, job, done), result)
}

fn write_of(
    undo: Undo,
    job: impl FnOnce(&Connection) -> Result<(), StoreError> + Send + 'static,
    done: oneshot::Sender<Result<(), StoreError>>,
) -> Box<dyn Job> {
    Box::new(Write {
        undo,
        job: Some(job),
        result: None,
        done,
    })
}

/// Returns a checked write of one row, unless its check fails. Then it fails if `fails` is set.
fn insert_checked(number: Option<u32>, fails: bool) -> (Box<dyn Job>, Receiver) {
    let (done, result) = oneshot::channel();
    let job = move |connection: &Connection| {
        let number = number.ok_or_else(|| StoreError::not_found("no such row"))?;
        let inserted = connection.execute("INSERT INTO numbers VALUES (?)", [number]);
        inserted.map_err(|error| convert("cannot insert", error))?;
        match fails {
            true => Err(StoreError::not_found("no such row")),
            false => Ok(()),
        }
    };
    (write_of(Undo::Transaction, job, done), result)
}

/// Writes jobs: the first waits alone, and the others arrive while it runs. Returns whether each succeeded.
fn write_jobs(connection: &Connection, jobs: Vec<(Box<dyn Job>, Receiver)>) -> Vec<bool> {
    let (jobs, results): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
    let (mut jobs, mut batch) = (jobs.into_iter(), Vec::new());
    let first = jobs.next().unwrap();
    let failed = write_batch(connection, &mut batch, first, || jobs.next()).err();
    batch.drain(..).for_each(|job| job.report(failed.clone()));
    drop(jobs);
    let succeeded = |result: Receiver| result.blocking_recv().is_ok_and(|result| result.is_ok());
    results.into_iter().map(succeeded).collect()
}

fn numbers(connection: &Connection) -> Vec<u32> {
    let mut select = connection.prepare("SELECT number FROM numbers ORDER BY 1").unwrap();
    let rows = select.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Writes rows: the first waits alone, and the others arrive while it runs. Returns whether each succeeded.
fn write(connection: &Connection, fails: &[bool]) -> (Result<(), StoreError>, Vec<bool>, usize) {
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
fn a_checked_write_that_changes_nothing_fails_alone() {
    let connection = open();
    let jobs = vec![
        insert(1, false),
        insert_checked(None, false),
        insert_checked(Some(3), false),
    ];
    assert_eq!(write_jobs(&connection, jobs), [true, false, true]);
    assert_eq!(numbers(&connection), [1, 3]);
}

#[test]
fn a_checked_write_that_fails_after_a_change_takes_the_transaction_with_it() {
    let connection = open();
    let jobs = vec![insert(1, false), insert_checked(Some(2), true), insert(3, false)];
    // The last one is not part of the transaction any more.
    assert_eq!(write_jobs(&connection, jobs), [false, false, false]);
    assert!(connection.is_autocommit());
    assert_eq!(numbers(&connection), [0; 0]);
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
    connection.busy_timeout(Duration::ZERO).unwrap();
    other
        .execute_batch("CREATE TABLE numbers (number); BEGIN IMMEDIATE")
        .unwrap();
    let (written, succeeded, left) = write(&connection, &[false, false]);
    assert!(written.unwrap_err().is_recoverable());
    assert_eq!((succeeded, left), (vec![false, false], 0));
}
