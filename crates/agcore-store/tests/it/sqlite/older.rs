//! Files that older versions have left.

use std::{path::Path, sync::Arc};

use agcore_store::sqlite::{
    SqliteOptions, SqliteStore,
    maintenance::{self, NEWEST_VERSION},
};
use agcore_testkit::clock::ManualClock;
use rusqlite::Connection;

use crate::older_versions::{check, fill};

const DUMPS: [&str; 6] = [
    include_str!("../older_versions/sqlite-1.sql"),
    include_str!("../older_versions/sqlite-2.sql"),
    include_str!("../older_versions/sqlite-3.sql"),
    include_str!("../older_versions/sqlite-4.sql"),
    include_str!("../older_versions/sqlite-5.sql"),
    include_str!("../older_versions/sqlite-6.sql"),
];

async fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, Arc::new(ManualClock::new())).await.unwrap()
}

#[tokio::test]
async fn every_older_version_is_migrated_with_its_data() {
    assert_eq!(
        DUMPS.len() + 1,
        NEWEST_VERSION as usize,
        "save a database of the version before the new one"
    );
    for (version, dump) in (1..).zip(DUMPS) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("agcore.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(dump).unwrap();
        old.pragma_update(None, "application_id", 0x6167_636f).unwrap();
        old.pragma_update(None, "user_version", version).unwrap();
        drop(old);
        let migrated = maintenance::migrate(&SqliteOptions::new(&path)).await.unwrap();
        assert_eq!((migrated.from, migrated.to), (version, NEWEST_VERSION));
        let store = open(&path).await;
        check(&store, version).await;
        store.close().await;
        let report = maintenance::check(&SqliteOptions::new(&path)).await.unwrap();
        assert!(report.is_intact(), "version {version}: {report:?}");
    }
}

#[tokio::test]
async fn the_saved_data_is_what_this_version_writes() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("agcore.db")).await;
    fill(&store).await;
    check(&store, NEWEST_VERSION).await;
}

/// Checks that a migration takes place completely or not at all.
#[tokio::test]
async fn a_migration_that_fails_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let old = Connection::open(&path).unwrap();
    old.execute_batch(DUMPS[2]).unwrap();
    old.execute_batch("PRAGMA application_id = 0x6167636f; PRAGMA user_version = 3; CREATE TABLE text_leaves (x)")
        .unwrap();
    let schema = |connection: &Connection| -> Vec<String> {
        let mut select = connection.prepare("SELECT name FROM sqlite_schema ORDER BY 1").unwrap();
        let names = select.query_map([], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    };
    let before = schema(&old);
    maintenance::migrate(&SqliteOptions::new(&path)).await.unwrap_err();
    assert_eq!(schema(&old), before);
    let version: u32 = old.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 3);
    old.execute_batch("DROP TABLE text_leaves").unwrap();
    drop(old);
    check(&open(&path).await, 3).await;
}
