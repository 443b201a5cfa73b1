//! The file: opening, closing, damage, other programs, two processes.

use std::{fs, path::Path, sync::Arc, time::Duration};

use agcore_memory::{MemoryErrorKind, MemoryFilter, MemoryItem, MemoryStore};
use agcore_session::{Actor, Journal, Record, SessionErrorKind, Timestamp};
use agcore_store::{
    StoreError,
    sqlite::{Durability, SqliteOptions, SqliteStore},
};
use agcore_testkit::clock::ManualClock;
use futures_util::future::join_all;
use serde_json::json;

async fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, Arc::new(ManualClock::new())).await
}

#[tokio::test]
async fn data_survives_reopening() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("数据 %20.db");
    let store = open(&path).await.unwrap();
    store.save(MemoryItem::new("a", "text")).await.unwrap();
    store
        .append("s", 0, vec![Record::new("k", 1, Timestamp::default(), json!(1))])
        .await
        .unwrap();
    store.close().await;
    let store = open(&path).await.unwrap();
    assert_eq!(store.get("local", "a").await.unwrap().unwrap().content, "text");
    assert_eq!(store.read("s", 0).await.unwrap().len(), 1);
}

#[tokio::test]
async fn many_open_a_new_file_at_once() {
    let directory = tempfile::tempdir().unwrap();
    for number in 0..50 {
        let path = directory.path().join(format!("{number}.db"));
        // Each has a thread of its own, which opens the file.
        for opened in join_all((0..8).map(|_| open(&path))).await {
            opened.unwrap();
        }
    }
}

#[tokio::test]
async fn refuses_files_that_it_cannot_use() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let check = async |name: &str, expected: &str| {
        let error = open(&path(name)).await.unwrap_err();
        assert!(error.message().contains(expected), "{error:?}");
        assert!(error.message().contains(name), "{error:?}");
    };
    fs::write(
        path("text.db"),
        "this is not a database, but it is longer than a header: ".repeat(50),
    )
    .unwrap();
    check("text.db", "the file is not a SQLite database").await;
    let other = rusqlite::Connection::open(path("other.db")).unwrap();
    other.execute_batch("CREATE TABLE t (x)").unwrap();
    check("other.db", "a database of another program").await;
    open(&path("newer.db")).await.unwrap().close().await;
    let newer = rusqlite::Connection::open(path("newer.db")).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    check("newer.db", "it has version 99, but this program knows versions up to 1").await;
    let unreleased = rusqlite::Connection::open(path("unreleased.db")).unwrap();
    let old = "CREATE TABLE sessions (x); PRAGMA application_id = 0x6167636f; PRAGMA user_version = 1";
    unreleased.execute_batch(old).unwrap();
    check("unreleased.db", "use another file, or delete this one").await;
    fs::create_dir(path("folder.db")).unwrap();
    check("folder.db", "the file cannot be opened").await;
    check("missing/agcore.db", "the file cannot be opened").await;
}

#[tokio::test]
async fn damaged_rows_are_reported_and_harm_no_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let store = open(&path).await.unwrap();
    for id in ["a", "b"] {
        store.save(MemoryItem::new(id, "")).await.unwrap();
    }
    store
        .append("s", 0, vec![Record::new("k", 1, Timestamp::default(), json!(1))])
        .await
        .unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute("UPDATE memory_items SET metadata = '{' WHERE id = 'a'", [])
        .unwrap();
    other.execute("UPDATE journal_records SET data = '['", []).unwrap();
    let error = store.get("local", "a").await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::Serialization);
    assert_eq!(
        error.message(),
        "the metadata of the item `a` is damaged: its JSON cannot be read"
    );
    assert!(store.get("local", "b").await.unwrap().is_some());
    assert_eq!(
        store.read("s", 0).await.unwrap_err().kind(),
        SessionErrorKind::Serialization
    );
}

#[tokio::test]
async fn a_full_database_loses_nothing_that_was_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    open(&path).await.unwrap().close().await;
    let limit = rusqlite::Connection::open(&path).unwrap();
    let pages: i64 = limit.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    drop(limit);
    let store = SqliteOptions::new(&path)
        .with_max_pages(u32::try_from(pages).unwrap() + 40)
        .open(Arc::new(ManualClock::new()))
        .await
        .unwrap();
    let mut saved = Vec::new();
    let full = loop {
        let id = format!("{:04}", saved.len());
        match store.save(MemoryItem::new(id.as_str(), "x".repeat(2_000))).await {
            Ok(()) => saved.push(id),
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind(), MemoryErrorKind::Storage);
    assert!(full.message().contains("is full"), "{full:?}");
    // Several writes in one transaction, of which some do not fit.
    let writes = (0..8).map(|number| store.save(MemoryItem::new(format!("late {number}"), "x".repeat(20_000))));
    for result in join_all(writes).await {
        assert_eq!(result.unwrap_err().kind(), MemoryErrorKind::Storage);
    }
    let ids = |items: Vec<MemoryItem>| items.into_iter().map(|item| item.id).collect::<Vec<_>>();
    assert_eq!(ids(store.list(&MemoryFilter::new("local")).await.unwrap()), saved);
    assert!(
        MemoryStore::delete(&store, "local", &saved[0]).await.unwrap(),
        "nothing can be deleted any more"
    );
    store.save(MemoryItem::new("again", "x")).await.unwrap();
    store.close().await;
    assert_eq!(
        open(&path)
            .await
            .unwrap()
            .count(&MemoryFilter::new("local"))
            .await
            .unwrap(),
        saved.len() as u64
    );
}

#[tokio::test]
async fn a_lock_of_another_process_is_waited_for_and_then_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let store = SqliteOptions::new(&path)
        .with_busy_timeout(Duration::from_millis(20))
        .with_durability(Durability::PowerLoss)
        .open(Arc::new(ManualClock::new()))
        .await
        .unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.save(MemoryItem::new("a", "")).await.unwrap_err();
    assert!(
        error.is_recoverable() && error.message().contains("another process"),
        "{error:?}"
    );
    assert_eq!(store.get("local", "a").await.unwrap(), None, "readers do not wait");
    other.execute_batch("ROLLBACK").unwrap();
    store.save(MemoryItem::new("a", "")).await.unwrap();
}

#[tokio::test]
async fn erased_data_is_not_left_in_the_files() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let store = open(&path).await.unwrap();
    let ann = Actor::user("ann");
    for number in 0..50 {
        let owner = if number % 2 == 0 {
            ann.clone()
        } else {
            Actor::user("ben")
        };
        let word = if number % 2 == 0 { "PLUMTREE" } else { "KEPTWORD" };
        let item = MemoryItem::new(format!("{number} {word}"), word.repeat(number * 20)).with_owner(owner);
        store.save(item.with_metadata("x", word)).await.unwrap();
    }
    let found = |word: &str| {
        let files = fs::read_dir(directory.path()).unwrap();
        files
            .filter(|file| {
                let bytes = fs::read(file.as_ref().unwrap().path()).unwrap();
                bytes.windows(word.len()).any(|window| window == word.as_bytes())
            })
            .count()
    };
    assert!(found("PLUMTREE") > 0);
    assert_eq!(store.erase(&ann).await.unwrap(), 25);
    assert!(found("KEPTWORD") > 0);
    assert_eq!(found("PLUMTREE"), 0, "erased data can be read in the files");
}

#[tokio::test]
async fn many_writers_at_once_are_all_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let store = open(&path).await.unwrap();
    let writes = (0..500).map(|number| {
        let store = &store;
        async move {
            // Every tenth write fails on its own, in a transaction with the others.
            match number % 10 {
                0 => store.append("s", 99, Vec::new()).await.is_ok(),
                _ => store.save(MemoryItem::new(format!("{number}"), "x")).await.is_ok(),
            }
        }
    });
    let failed = join_all(writes)
        .await
        .into_iter()
        .filter(|is_written| !is_written)
        .count();
    assert_eq!(failed, 50);
    assert_eq!(store.count(&MemoryFilter::new("local")).await.unwrap(), 450);
}
