//! Quotas in a SQLite file.

use std::{path::PathBuf, sync::Arc, time::Duration};

use agcore_session::{
    Actor,
    quota::{Quota, QuotaScope, QuotaStore, QuotaWindow},
};
use agcore_store::sqlite::{Durability, SqliteStore};
use agcore_testkit::clock::ManualClock;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::sync::oneshot::Receiver;

use super::child::{Writer, open, report};
use crate::quotas;

/// A file with a store, and a connection that knows nothing of agcore.
struct File {
    store: SqliteStore,
    clock: Arc<ManualClock>,
    raw: Connection,
    directory: TempDir,
}

async fn file() -> File {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let clock = Arc::new(ManualClock::new());
    let store = SqliteStore::open(&path, Arc::clone(&clock) as _).await.unwrap();
    let raw = Connection::open(&path).unwrap();
    File {
        store,
        clock,
        raw,
        directory,
    }
}

fn count(raw: &Connection, table: &str) -> u64 {
    let sql = format!("SELECT count(*) FROM {table}");
    let count = raw.query_row(&sql, [], |row| row.get::<_, i64>(0));
    count.unwrap().unsigned_abs()
}

/// The job `draw`: uses up the quotas with many tasks. Reports what they have used.
pub(super) async fn draw(file: &str, process: &str, begin: Receiver<()>) {
    let store = open(file, Durability::ProcessDeath).await;
    report("ready");
    begin.await.unwrap();
    let spent = quotas::use_up(&store, process).await;
    report(&format!("{spent}"));
    store.close().await;
}

#[tokio::test]
async fn many_tasks_of_two_processes_never_exceed_a_quota() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let store = open(path.to_str().unwrap(), Durability::ProcessDeath).await;
    quotas::limit(&store).await;
    let mut processes = ["a", "b"].map(|name| Writer::start("draw", &path, name));
    Writer::begin(&mut processes);
    let spent = processes
        .each_mut()
        .map(|process| process.next().expect("the process failed"));
    let spent = spent.iter().map(|spent| spent.parse::<u64>().unwrap());
    quotas::check_used_up(&store, spent.sum()).await;
    let raw = Connection::open(&path).unwrap();
    assert_eq!(
        (count(&raw, "quota_usage"), count(&raw, "quota_allowances")),
        (4 * 4, 0)
    );
}

#[tokio::test]
async fn allowances_that_were_left_are_deleted() {
    let File {
        store,
        raw,
        directory: _directory,
        ..
    } = file().await;
    let pass_days = async |days: u64| {
        let millis = days * 24 * 3600 * 1000;
        let sql = format!("UPDATE quota_allowances SET expires_at = expires_at - {millis}");
        raw.execute(&sql, []).unwrap();
    };
    let rows = async || count(&raw, "quota_allowances");
    quotas::allowances_that_were_left_are_deleted(&store, pass_days, rows).await;
}

#[tokio::test]
async fn runs_leave_no_rows() {
    let File {
        store,
        raw,
        clock,
        directory: _directory,
    } = file().await;
    let rows = async || ["quota_usage", "quota_allowances"].map(|table| count(&raw, table));
    quotas::runs_leave_no_rows(&store, rows).await;
    clock.advance(Duration::from_secs(100 * 24 * 3600));
    assert!(quotas::usage(&store, "ann").await[1].used.is_zero());
}

#[tokio::test]
async fn the_database_refuses_bad_quotas() {
    let File {
        store,
        raw,
        directory: _directory,
        ..
    } = file().await;
    quotas::fill(&store).await;
    for (table, change) in quotas::REFUSED {
        let error = raw.execute(&format!("UPDATE {table} SET {change}"), []);
        let error = error.expect_err(change).to_string();
        assert!(error.contains("CHECK"), "{change}: {error}");
    }
}

#[tokio::test]
async fn erased_users_are_not_left_in_the_files() {
    let File { store, directory, .. } = file().await;
    quotas::limit(&store).await;
    for user in ["PLUMTREE", "KEPTWORD"] {
        let own = Quota::new(QuotaScope::User(user.to_owned()), QuotaWindow::Day).with_runs(9);
        store.set_quota("acme", &own).await.unwrap();
        quotas::open(&store, &quotas::key(user, user)).await.unwrap();
        let counted = store.count_run(&Actor::new("acme", user), &Default::default()).await;
        assert_eq!(counted.unwrap(), Ok(()));
    }
    let found = |word: &str| {
        let files = std::fs::read_dir(directory.path()).unwrap();
        let contains = |path: PathBuf| {
            let bytes = std::fs::read(path).unwrap();
            bytes.windows(word.len()).any(|window| window == word.as_bytes())
        };
        files.filter(|entry| contains(entry.as_ref().unwrap().path())).count()
    };
    assert!(found("PLUMTREE") > 0);
    store.erase_quotas(&Actor::new("acme", "PLUMTREE")).await.unwrap();
    assert!(found("KEPTWORD") > 0);
    assert_eq!(found("PLUMTREE"), 0);
}
