//! Webhooks in a SQLite file.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use agcore_chat::SystemClock;
use agcore_session::Actor;
use agcore_store::sqlite::{Durability, SqliteStore};
use agcore_webhook::{NewWebhook, SigningSecret, WebhookStore};
use rusqlite::Connection;
use tempfile::TempDir;

use super::child::{Writer, open, report};
use crate::webhooks;

/// A file with a store, and a connection that knows nothing of agcore.
struct File {
    store: SqliteStore,
    raw: Connection,
    directory: TempDir,
}

async fn file() -> File {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let store = SqliteStore::open(&path, Arc::new(SystemClock::new())).await.unwrap();
    let raw = connect(&path);
    File { store, raw, directory }
}

fn connect(path: &PathBuf) -> Connection {
    let raw = Connection::open(path).unwrap();
    raw.pragma_update(None, "foreign_keys", true).unwrap();
    raw
}

/// The job `notify`: ends runs, and sends messages about them, until it is killed.
pub(super) async fn notify(file: &str, generation: &str) {
    let store = open(file, Durability::ProcessDeath).await;
    webhooks::send_forever(&store, &store, generation, report).await;
}

#[tokio::test]
async fn each_run_that_ends_has_its_message_when_the_process_is_killed() {
    let File { store, raw, directory } = file().await;
    webhooks::create(&store, "w").await;
    let path = directory.path().join("agcore.db");
    let mut random = fastrand::Rng::with_seed(u64::from(std::process::id()));
    let mut reports = BTreeSet::new();
    for generation in 0..10 {
        let mut writer = Writer::start("notify", &path, &generation.to_string());
        for _ in 0..random.usize(1..30) {
            reports.insert(writer.next().expect("the process ended by itself"));
        }
        // Not always right after a report.
        for _ in 0..random.u32(0..1_000_000) {
            std::hint::spin_loop();
        }
        writer.kill();
        reports.extend(std::iter::from_fn(|| writer.next()));
        let expire = async || {
            raw.execute(webhooks::EXPIRE, []).unwrap();
        };
        webhooks::check(&store, &store, &reports, expire).await;
    }
    assert!(reports.iter().any(|report| report.starts_with("delivered ")));
}

#[tokio::test]
async fn waiting_messages_keep_no_others_back() {
    let File {
        store,
        raw,
        directory: _directory,
    } = file().await;
    let run = async |sql: String| raw.execute_batch(&sql).unwrap();
    webhooks::waiting_messages_keep_no_others_back(&store, &store, run).await;
}

#[tokio::test]
async fn old_messages_are_deleted() {
    let File {
        store,
        raw,
        directory: _directory,
    } = file().await;
    let run = async |sql: String| raw.execute_batch(&sql).unwrap();
    webhooks::old_messages_are_deleted(&store, run).await;
}

#[tokio::test]
async fn unreadable_rows_keep_no_others_back() {
    let File {
        store,
        raw,
        directory: _directory,
    } = file().await;
    let run = async |sql: String| raw.execute_batch(&sql).unwrap();
    webhooks::unreadable_rows_keep_no_others_back(&store, run).await;
}

#[tokio::test]
async fn the_database_refuses_bad_webhooks() {
    let File {
        store,
        raw,
        directory: _directory,
    } = file().await;
    webhooks::create(&store, "w").await;
    raw.execute_batch(&webhooks::filling("w", 1)).unwrap();
    for (table, change) in [
        ("webhooks", "scope = 'world'"),
        ("webhooks", "paused = 'never'"),
        ("webhooks", "events = -1"),
        ("webhooks", "previous_secret = 'whsec_'"),
        ("webhooks", "revision = 0"),
        ("webhook_deliveries", "state = 'lost'"),
        ("webhook_deliveries", "next_at = NULL"),
        ("webhook_deliveries", "state = 'delivered'"),
        ("webhook_deliveries", "holder = 'h'"),
        ("webhook_deliveries", "run = NULL"),
    ] {
        let error = raw.execute(&format!("UPDATE {table} SET {change}"), []);
        let error = error.expect_err(change).to_string();
        assert!(error.contains("CHECK"), "{change}: {error}");
    }
    raw.execute("DELETE FROM webhooks", []).unwrap();
    let left: u32 = raw
        .query_row("SELECT count(*) FROM webhook_deliveries", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn erased_webhooks_are_not_left_in_the_files() {
    let File {
        store,
        directory,
        raw: _,
    } = file().await;
    for (user, word) in [("ann", "PLUMTREE"), ("ben", "KEPTWORD")] {
        for number in 0..20 {
            let id = format!("{number} {word}");
            let secret = SigningSecret::new(word.repeat(4)).unwrap();
            let new = NewWebhook::new(&*id, format!("https://example.com/{word}"), secret)
                .with_owner(Actor::user(user))
                .with_title(word);
            store.create_webhook(new).await.unwrap();
            store.test_webhook("local", &id).await.unwrap();
        }
    }
    let found = |word: &str| {
        let files = std::fs::read_dir(directory.path()).unwrap();
        let contains = |path: PathBuf| {
            let bytes = std::fs::read(path).unwrap();
            bytes.windows(word.len()).any(|window| window == word.as_bytes())
        };
        files.filter(|entry| contains(entry.as_ref().unwrap().path())).count()
    };
    let secret = SigningSecret::new("PLUMTREE".repeat(4)).unwrap().expose();
    assert!(found("PLUMTREE") > 0 && found(&secret) > 0);
    assert_eq!(store.erase_webhooks(&Actor::user("ann")).await.unwrap(), 20);
    assert!(found("KEPTWORD") > 0);
    assert_eq!((found("PLUMTREE"), found(&secret)), (0, 0));
}
