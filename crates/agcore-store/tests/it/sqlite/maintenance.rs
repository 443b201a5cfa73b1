//! Maintenance: migrating, checking, copying and compacting a file.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use agcore_chat::redact::KeyRedactor;
use agcore_memory::{MemoryFilter, MemoryItem, MemoryStore};
use agcore_session::{Actor, ConversationMemory, Journal, Record, Redacted, Timestamp};
use agcore_store::{
    StoreErrorKind,
    sqlite::{
        SqliteOptions, SqliteStore,
        maintenance::{self, NEWEST_VERSION},
    },
};
use agcore_testkit::clock::ManualClock;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn options(&self) -> SqliteOptions {
        SqliteOptions::new(self.path("agcore.db"))
    }

    async fn store(&self) -> SqliteStore {
        open(&self.path("agcore.db")).await
    }

    /// Creates a database with some items and records, and closes it.
    async fn filled(self) -> Self {
        let store = self.store().await;
        for number in 0..20 {
            let item = MemoryItem::new(format!("{number}"), "text ".repeat(100)).with_metadata("n", number);
            store.save(item).await.unwrap();
        }
        let records = (0..10).map(|number| Record::new("k", 1, Timestamp::default(), json!(number)));
        store.append("s", 0, records.collect()).await.unwrap();
        store.trim("s", 4).await.unwrap();
        store.close().await;
        self
    }

    /// Opens the file like another program. rusqlite waits up to 5 s for a lock.
    fn connection(&self) -> Connection {
        Connection::open(self.path("agcore.db")).unwrap()
    }

    fn files(&self) -> Vec<String> {
        let files = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

async fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, Arc::new(ManualClock::new())).await.unwrap()
}

#[tokio::test]
async fn migrating_creates_the_tables_once() {
    let place = Place::new();
    let migrated = maintenance::migrate(&place.options()).await.unwrap();
    assert_eq!((migrated.from, migrated.to), (0, NEWEST_VERSION));
    let migrated = maintenance::migrate(&place.options()).await.unwrap();
    assert_eq!((migrated.from, migrated.to), (NEWEST_VERSION, NEWEST_VERSION));
    assert!(place.store().await.get("local", "a").await.unwrap().is_none());
}

#[tokio::test]
async fn every_operation_refuses_files_that_it_cannot_use() {
    use StoreErrorKind::{InvalidInput, NotFound, Serialization};

    let check = async |place: &Place, kind: StoreErrorKind, reason: &str| {
        let options = place.options();
        let errors = [
            maintenance::check(&options).await.map(drop),
            maintenance::backup(&options, place.path("copy.db"), false)
                .await
                .map(drop),
            maintenance::vacuum(&options).await.map(drop),
            maintenance::rebuild(&options).await.map(drop),
        ];
        for error in errors {
            let error = error.unwrap_err();
            assert_eq!(error.kind(), kind, "{error:?}");
            assert!(error.message().contains(reason), "{error:?}");
            assert!(error.message().contains("agcore.db"), "{error:?}");
        }
        assert!(!place.path("copy.db").exists());
    };
    let place = Place::new();
    check(&place, NotFound, "there is no such file").await;
    assert_eq!(place.files(), [""; 0], "a file was created");
    fs::write(place.path("agcore.db"), "this is text, not a database. ".repeat(100)).unwrap();
    check(&place, InvalidInput, "is not a SQLite database").await;

    let place = Place::new();
    place.connection().execute_batch("CREATE TABLE t (x)").unwrap();
    check(&place, InvalidInput, "a database of another program").await;
    assert!(maintenance::migrate(&place.options()).await.is_err());

    let place = Place::new().filled().await;
    place.connection().pragma_update(None, "user_version", 99).unwrap();
    check(&place, Serialization, "it has version 99").await;
    let error = maintenance::migrate(&place.options()).await.unwrap_err();
    assert_eq!(error.kind(), Serialization);
}

#[tokio::test]
async fn a_check_lists_all_damage() {
    let place = Place::new().filled().await;
    let report = maintenance::check(&place.options()).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
    assert_eq!(report.version, NEWEST_VERSION);
    let check = async |sql: &str, expected: &[&str]| {
        let connection = place.connection();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        let report = maintenance::check(&place.options()).await.unwrap();
        let damage: Vec<_> = report
            .damage
            .iter()
            .map(|damage| format!("{}: {damage}", damage.kind()))
            .collect();
        assert_eq!(damage, expected, "{sql}");
    };
    let json = "json: the JSON of the item `7` of local in memory_items cannot be read";
    check(r#"UPDATE memory_items SET metadata = '{"a":' WHERE id = '7'"#, &[json]).await;
    // SQLite accepts this, but the stores do not.
    check(
        r#"UPDATE memory_items SET metadata = '{"a":"\ud800"}' WHERE id = '7'"#,
        &[json],
    )
    .await;
    check("UPDATE memory_items SET metadata = '{}'", &[]).await;
    let gap = "gap: the stream `s` lacks 2 records";
    check("DELETE FROM journal_records WHERE seq IN (6, 10)", &[gap]).await;
    let record = "json: the JSON of record 5 of the stream `s` in journal_records cannot be read";
    check("UPDATE journal_records SET data = 'x' WHERE seq = 5", &[gap, record]).await;
    check("DELETE FROM journal_records WHERE seq < 99", &[]).await;
    let orphan = "INSERT INTO journal_records VALUES (77, 1, 'k', 1, 0, '1')";
    check(
        orphan,
        &["foreign_key: a row of journal_records refers to a row of journal_streams that does not exist"],
    )
    .await;
}

#[tokio::test]
async fn a_check_reads_all_json_of_sessions() {
    let place = Place::new().filled().await;
    place
        .connection()
        .execute_batch(
            "INSERT INTO sessions (session, tenant, id, user, status, created_at, updated_at, stream, metadata)
             VALUES (1, 't', 'one', 'u', 'running', 0, 0, 's', '{}');
             INSERT INTO runs (run, session, id, status, created_at, updated_at, input, outcome)
             VALUES (1, 1, 'r', 'running', 0, 0, '{}', '{}');
             INSERT INTO messages (session, seq, id, role, type, visibility_mask, created_at, usage, metadata, content)
             VALUES (1, 1, 'm', 'user', 'user_input', 3, 0, '{}', '{\"type\":\"user_input\"}', 'not JSON');
             -- So that it can be damaged.
             DROP TRIGGER messages_metadata_updated;
             INSERT INTO events VALUES (1, 1, 'r', 'k', 0, '{}');
             INSERT INTO documents VALUES (1, 1, NULL, 0, '{}');
             INSERT INTO tool_calls VALUES (1, 1, 'r', 'c', 'n', 0, NULL, '{}', NULL);
             INSERT INTO approvals (session, id, run, status, asked_at, question) VALUES (1, 'q', 'r', 'open', 0, '{}');
             INSERT INTO checkpoints VALUES (1, 'r', 1, 's', 1, 0, '{}')",
        )
        .unwrap();
    let report = maintenance::check(&place.options()).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
    for (table, column) in [
        ("sessions", "metadata"),
        ("runs", "input"),
        ("runs", "outcome"),
        ("messages", "usage"),
        ("messages", "metadata"),
        ("events", "data"),
        ("documents", "value"),
        ("tool_calls", "arguments"),
        ("approvals", "question"),
        ("checkpoints", "data"),
    ] {
        let connection = place.connection();
        connection
            .execute_batch(&format!("UPDATE {table} SET {column} = '{{'"))
            .unwrap();
        drop(connection);
        let report = maintenance::check(&place.options()).await.unwrap();
        let damage = report.damage.iter().map(ToString::to_string).collect::<Vec<_>>();
        let row = match table {
            "sessions" => "the session `one` of t",
            _ => "a row of the session `one`",
        };
        assert_eq!(
            damage,
            [format!("the JSON of {row} in {table} cannot be read")],
            "{column}"
        );
        place
            .connection()
            .execute_batch(&format!("UPDATE {table} SET {column} = '{{}}'"))
            .unwrap();
    }
}

#[tokio::test]
async fn a_check_finds_damaged_pages() {
    let place = Place::new().filled().await;
    place
        .connection()
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    // An index that lacks an entry.
    let connection = place.connection();
    let drop_entry = "PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE INDEX memory_items_user ON memory_items (tenant, id)'
        WHERE name = 'memory_items_user'";
    connection.execute_batch(drop_entry).unwrap();
    drop(connection);
    let report = maintenance::check(&place.options()).await.unwrap();
    assert!(report.damage.iter().any(|damage| damage.kind() == "page"), "{report:?}");
    // Rebuilding the indexes repairs this.
    assert!(maintenance::rebuild(&place.options()).await.unwrap().indexes >= 4);
    let report = maintenance::check(&place.options()).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
}

#[tokio::test]
async fn a_page_that_cannot_be_read_does_not_hide_other_damage() {
    let place = Place::new().filled().await;
    let connection = place.connection();
    let damage =
        "PRAGMA foreign_keys = OFF; DELETE FROM journal_records WHERE seq = 6; PRAGMA wal_checkpoint(TRUNCATE)";
    connection.execute_batch(damage).unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'memory_items'";
    let root: u32 = connection.query_row(root, [], |row| row.get(0)).unwrap();
    drop(connection);
    let mut bytes = fs::read(place.path("agcore.db")).unwrap();
    let page = usize::try_from(root - 1).unwrap() * 4096;
    bytes[page..page + 100].fill(0xff);
    fs::write(place.path("agcore.db"), bytes).unwrap();
    let report = maintenance::check(&place.options()).await.unwrap();
    let has = |text: &str| report.damage.iter().any(|damage| damage.to_string().contains(text));
    assert!(has("memory_items cannot be checked"), "{report:?}");
    assert!(has("the stream `s` lacks 1 records"), "{report:?}");
}

#[tokio::test]
async fn a_backup_contains_what_was_committed_while_others_write() {
    let place = Place::new().filled().await;
    let store = place.store().await;
    store.save(MemoryItem::new("in the log", "x")).await.unwrap();
    // Another process is in the middle of a transaction.
    let writer = place.connection();
    writer
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM memory_items")
        .unwrap();
    let target = place.path("copy.db");
    let bytes = maintenance::backup(&place.options(), &target, false).await.unwrap();
    assert_eq!(bytes, fs::metadata(&target).unwrap().len());
    writer.execute_batch("ROLLBACK").unwrap();
    drop(writer);
    let names = place.files();
    assert!(
        names
            .iter()
            .all(|name| !name.starts_with('.') && !name.starts_with("copy.db-")),
        "{names:?}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let copy = SqliteOptions::new(&target);
    assert!(maintenance::check(&copy).await.unwrap().is_intact());
    let copy = open(&target).await;
    assert_eq!(copy.count(&MemoryFilter::new("local")).await.unwrap(), 21);
    assert_eq!(copy.read("s", 0).await.unwrap().len(), 7);
    copy.save(MemoryItem::new("new", "x")).await.unwrap();
}

#[tokio::test]
async fn a_backup_replaces_a_file_only_when_it_may() {
    let place = Place::new().filled().await;
    let target = place.path("copy.db");
    fs::write(&target, "precious").unwrap();
    let backup = async |target: &Path, replace| maintenance::backup(&place.options(), target, replace).await;
    let error = backup(&target, false).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    backup(&target, true).await.unwrap();
    assert!(
        maintenance::check(&SqliteOptions::new(&target))
            .await
            .unwrap()
            .is_intact()
    );

    // A link that leads nowhere is something, too.
    #[cfg(unix)]
    {
        let link = place.path("link.db");
        std::os::unix::fs::symlink(place.path("nowhere"), &link).unwrap();
        let error = backup(&link, false).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::AlreadyExists);
        assert!(link.is_symlink());
    }

    let error = backup(&place.path("agcore.db"), true).await.unwrap_err();
    assert!(error.message().contains("the database itself"), "{error:?}");
    let in_use = open(&target).await;
    in_use.save(MemoryItem::new("a", "x")).await.unwrap();
    let error = backup(&target, true).await.unwrap_err();
    assert!(error.message().contains("a database in use"), "{error:?}");
    let error = backup(&place.path("missing/copy.db"), false).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Storage);
}

#[tokio::test]
async fn vacuuming_makes_the_file_smaller() {
    let place = Place::new().filled().await;
    let store = place.store().await;
    for number in 0..200 {
        store
            .save(MemoryItem::new(format!("x{number}"), "y".repeat(10_000)))
            .await
            .unwrap();
    }
    store.delete_prefix("local", "x").await.unwrap();
    let vacuumed = maintenance::vacuum(&place.options()).await.unwrap();
    assert!(vacuumed.before > 2_000_000 && vacuumed.after < 500_000, "{vacuumed:?}");
    assert_eq!(store.count(&MemoryFilter::new("local")).await.unwrap(), 20);
}

#[tokio::test]
async fn a_locked_database_is_reported() {
    let place = Place::new().filled().await;
    let writer = place.connection();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let options = place.options().with_busy_timeout(Duration::from_millis(1));
    for error in [
        maintenance::vacuum(&options).await.map(drop).unwrap_err(),
        maintenance::rebuild(&options).await.map(drop).unwrap_err(),
        maintenance::migrate(&options).await.map(drop).unwrap_err(),
    ] {
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error:?}");
        assert!(error.is_recoverable());
    }
    assert!(
        maintenance::check(&options).await.unwrap().is_intact(),
        "reading does not wait"
    );
}

#[tokio::test]
async fn secrets_are_not_in_the_files_of_a_redacted_store() {
    const KEY: &str = "sk-0123456789abcdef";
    let place = Place::new();
    let found = |word: &str| {
        let bytes = |name: &String| fs::read(place.path(name)).unwrap();
        let contains = |bytes: Vec<u8>| bytes.windows(word.len()).any(|window| window == word.as_bytes());
        place.files().iter().any(|name| contains(bytes(name)))
    };
    let store = place.store().await;
    let redacted = Redacted::new(store.clone(), Arc::new(KeyRedactor));
    let item = MemoryItem::new("notes/1", format!("PLUMTREE {KEY}"))
        .with_source(KEY)
        .with_metadata("key", KEY)
        .with_metadata(KEY, json!([KEY]));
    redacted.save(item.clone()).await.unwrap();
    let filter = MemoryFilter::new("local").with_metadata("key", KEY);
    assert_eq!(redacted.list(&filter).await.unwrap().len(), 1);
    let clock = Arc::new(ManualClock::new());
    let journal: Arc<dyn Journal> = Arc::new(redacted);
    let mut memory = ConversationMemory::open(journal, clock, &Actor::local(), "c")
        .await
        .unwrap();
    memory.push(agcore_chat::Message::user(KEY)).await.unwrap();
    assert!(found("PLUMTREE"));
    assert!(!found(KEY));
    // The scan would find it.
    store.save(item).await.unwrap();
    assert!(found(KEY));
}
