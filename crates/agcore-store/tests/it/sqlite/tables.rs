//! The tables of sessions: the database itself refuses rows that break their rules, no matter which program writes them.

mod metadata;

use std::sync::Arc;

use agcore_schedule::{NewSchedule, Timing};
use agcore_session::{
    Actor, ApprovalChange, Billing, CallChange, CheckpointStore, Commit, Journal, MessageFilter, MessageRole,
    NewApproval, NewCheckpoint, NewEvent, NewMessage, NewSession, Record, RunAdministration as _, RunChange, RunFilter,
    RunKey, RunStatus, SessionErrorKind, SessionReader, SessionRetention, SessionStatus, SessionWriter, Timestamp,
    stream_of,
};
use agcore_store::sqlite::SqliteStore;
use agcore_testkit::clock::ManualClock;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

/// A file with a session that has one of each, and a connection that knows nothing of agcore.
struct File {
    store: SqliteStore,
    raw: Connection,
    directory: TempDir,
}

/// A commit with one of each part, which all contain the word.
fn one_of_each(word: &str) -> Commit {
    let data = || json!({ "text": word });
    Commit::new()
        .with_record(Record::new("test", 1, Timestamp::default(), data()))
        .with_run(RunChange::new("r", RunStatus::Running).with_input(data()))
        .with_message(NewMessage::new("m", MessageRole::User, word.repeat(2_000)))
        .with_message(NewMessage::audit("a", word))
        .with_event(NewEvent::new("r", "text", data()))
        .with_call(CallChange::start("r", "c", "search", data()))
        .with_call(CallChange::finish("r", "c", data()))
        .with_call(CallChange::start("r", "c2", "search", data()))
        .with_approval(ApprovalChange::Ask(NewApproval::new("q", "r", data())))
        .with_approval(ApprovalChange::Ask(NewApproval::new("q2", "r", data())))
        .with_approval(ApprovalChange::answer("q", data(), Actor::local()))
        .with_title(word)
}

async fn file() -> File {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let store = SqliteStore::open(&path, Arc::new(ManualClock::new())).await.unwrap();
    let billed = NewSession::new("s").with_billing(Billing::new("EUR").with_country("DE"));
    store.create(billed).await.unwrap();
    store.create(NewSession::new("free")).await.unwrap();
    store.commit("local", "s", 0, one_of_each("x")).await.unwrap();
    let run = RunKey::new("local", "s", "r");
    store
        .save_checkpoint(run, 0, NewCheckpoint::snapshot("a", json!(1)))
        .await
        .unwrap();
    let raw = Connection::open(&path).unwrap();
    raw.pragma_update(None, "foreign_keys", true).unwrap();
    File { store, raw, directory }
}

/// Checks that a statement is refused, for a reason that contains this text.
fn refused(raw: &Connection, sql: &str, reason: &str) {
    let error = raw.execute(sql, []).expect_err(sql).to_string();
    assert!(error.contains(reason), "{sql}: {error}");
}

#[tokio::test]
async fn the_database_refuses_bad_sessions() {
    let file = file().await;
    for (change, reason) in [
        ("status = 'lost'", "this status"),
        ("status = 'PENDING'", "this status"),
        ("error_id = 'e'", "CHECK"),
        ("status = 'running', pending_tool_call_id = 'c'", "CHECK"),
        ("currency = 'USD'", "billing"),
        ("currency = NULL, country = NULL", "billing"),
        ("country = 'FR'", "billing"),
        ("origin_session = 'other'", "CHECK"),
        ("updated_at = created_at - 1", "CHECK"),
        ("last_message = -1", "CHECK"),
        ("tenant = NULL", "a session stays a part of the same one"),
        ("updated_at = 'now'", "cannot store TEXT"),
    ] {
        refused(
            &file.raw,
            &format!("UPDATE sessions SET {change} WHERE id = 's'"),
            reason,
        );
    }
    let insert = |currency: &str, country: &str| {
        format!(
            "INSERT INTO sessions (tenant, id, user, status, currency, country, created_at, updated_at, stream, metadata)
             VALUES ('t', 'i', 'u', 'pending', {currency}, {country}, 0, 0, 'st', '{{}}')"
        )
    };
    refused(
        &file.raw,
        &insert("NULL", "NULL").replace("'pending'", "'lost'"),
        "CHECK",
    );
    for (currency, country) in [
        ("'eur'", "NULL"),
        ("'EURO'", "NULL"),
        ("''", "NULL"),
        ("'EUR'", "'D'"),
        ("NULL", "'DE'"),
    ] {
        refused(&file.raw, &insert(currency, country), "CHECK");
    }
    let twice = "INSERT INTO sessions (tenant, id, user, status, created_at, updated_at, stream, metadata)
                 VALUES ('local', 's', 'u', 'pending', 0, 0, 'other', '{}')";
    refused(&file.raw, twice, "UNIQUE");
    file.raw.execute(&insert("'EUR'", "'DE'"), []).unwrap();
}

#[tokio::test]
async fn the_database_refuses_illegal_transitions() {
    let file = file().await;
    let check = |table: &str, from: &str, to: &str, is_legal: bool| {
        // Without the trigger, to get to the status from which the transition starts.
        let trigger: String = file
            .raw
            .query_row(
                "SELECT sql FROM sqlite_schema WHERE name = ?1",
                [format!("{table}_status")],
                |row| row.get(0),
            )
            .unwrap();
        let reset = format!("DROP TRIGGER {table}_status; UPDATE {table} SET status = '{from}'; {trigger}");
        file.raw.execute_batch(&reset).unwrap();
        let update = format!("UPDATE {table} SET status = '{to}'");
        if is_legal {
            file.raw.execute(&update, []).unwrap();
        } else {
            refused(&file.raw, &update, "cannot get this status");
        }
    };
    for from in SessionStatus::ALL {
        for to in SessionStatus::ALL {
            check("sessions", from.as_str(), to.as_str(), from.can_become(to));
        }
    }
    for from in RunStatus::ALL {
        for to in RunStatus::ALL {
            check("runs", from.as_str(), to.as_str(), from.can_become(to));
        }
    }
}

#[tokio::test]
async fn the_database_refuses_bad_messages() {
    let file = file().await;
    let insert = |columns: &str, values: &str| {
        format!("INSERT INTO messages (session, {columns}, created_at) VALUES (1, {values}, 0)")
    };
    let columns = "seq, id, role, visibility_mask, content";
    let tool = "seq, id, role, visibility_mask, content, type, metadata";
    let cost = "seq, id, role, visibility_mask, content, cost, currency";
    for (columns, values, reason) in [
        (columns, "0, 'n', 'user', 0, ''", "CHECK"),
        (columns, "-2, 'n', 'user', 1, ''", "CHECK"),
        (columns, "-2, 'n', 'user', 2, ''", "CHECK"),
        (columns, "-2, 'n', 'tool', 0, ''", "CHECK"),
        (columns, "2, 'n', 'robot', 3, ''", "CHECK"),
        (columns, "2, 'n', 'user', 4, ''", "CHECK"),
        (columns, "2, 'n', 'user', -1, ''", "CHECK"),
        (columns, "2, 'n', 'user', NULL, ''", "NOT NULL"),
        (columns, "1, 'n', 'user', 3, ''", "UNIQUE"),
        (columns, "2, 'm', 'user', 3, ''", "UNIQUE"),
        (columns, "-2, 'm', 'user', 0, ''", "UNIQUE"),
        (
            tool,
            r#"-2, 'n', 'assistant', 0, '', 'tool_call', '{"type":"tool_call","call_id":"c","name":"n","arguments":1}'"#,
            "CHECK",
        ),
        (tool, "2, 'n', 'user', 3, '', NULL, '{}'", "CHECK"),
        (cost, "2, 'n', 'user', 3, '', 5, 'USD'", "currency of the session"),
        (cost, "2, 'n', 'user', 3, '', 5, NULL", "CHECK"),
        (cost, "2, 'n', 'user', 3, '', NULL, 'EUR'", "CHECK"),
        (cost, "2, 'n', 'user', 3, '', -5, 'EUR'", "CHECK"),
        (cost, "2, 'n', 'user', 3, '', 0.5, 'EUR'", "cannot store REAL"),
    ] {
        refused(&file.raw, &insert(columns, values), reason);
    }
    let free = "(SELECT session FROM sessions WHERE id = 'free')";
    let cost_of_free =
        insert(cost, "2, 'n', 'user', 3, '', 5, 'EUR'").replace("VALUES (1,", &format!("VALUES ({free},"));
    refused(&file.raw, &cost_of_free, "currency of the session");
    refused(
        &file.raw,
        &insert(columns, "2, 'n', 'user', 3, ''").replace("(1,", "(99,"),
        "FOREIGN KEY",
    );
    file.raw
        .execute(&insert(cost, "2, 'n', 'user', 3, '', 5, 'EUR'"), [])
        .unwrap();
    for change in [
        "currency = 'USD'",
        "currency = NULL",
        "session = 2",
        "seq = 0",
        "visibility_mask = 7",
    ] {
        let update = format!("UPDATE messages SET {change} WHERE id = 'n'");
        assert!(file.raw.execute(&update, []).is_err(), "{update}");
    }
}

#[tokio::test]
async fn the_database_refuses_bad_parts_of_runs() {
    let file = file().await;
    for (sql, reason) in [
        (
            "INSERT INTO runs (session, id, status, created_at, updated_at) VALUES (1, 'n', 'lost', 0, 0)",
            "CHECK",
        ),
        (
            "INSERT INTO runs (session, id, status, created_at, updated_at) VALUES (1, 'r', 'queued', 0, 0)",
            "UNIQUE",
        ),
        (
            "INSERT INTO runs (session, id, status, created_at, updated_at) VALUES (9, 'n', 'queued', 0, 0)",
            "FOREIGN KEY",
        ),
        (
            "INSERT INTO events (session, seq, run, kind, created_at, data) VALUES (1, 2, 'n', 'k', 0, '')",
            "FOREIGN KEY",
        ),
        (
            "INSERT INTO events (session, seq, run, kind, created_at, data) VALUES (1, 1, 'r', 'k', 0, '')",
            "UNIQUE",
        ),
        (
            "INSERT INTO events (session, seq, run, kind, created_at, data) VALUES (1, 0, 'r', 'k', 0, '')",
            "CHECK",
        ),
        (
            "INSERT INTO events (session, seq, run, kind, created_at, data) VALUES (2, 1, 'r', 'k', 0, '')",
            "FOREIGN KEY",
        ),
        (
            "INSERT INTO tool_calls (session, run, id, name, started_at, arguments) VALUES (1, 'r', 'c', 'n', 0, '')",
            "UNIQUE",
        ),
        (
            "INSERT INTO tool_calls (session, run, id, name, started_at, arguments) VALUES (1, 'n', 'd', 'n', 0, '')",
            "FOREIGN KEY",
        ),
        ("UPDATE tool_calls SET result = '1' WHERE id = 'c'", "finished already"),
        (
            "UPDATE tool_calls SET result = NULL, finished_at = NULL WHERE id = 'c'",
            "finished already",
        ),
        ("UPDATE tool_calls SET result = '1' WHERE id = 'c2'", "CHECK"),
        (
            "UPDATE tool_calls SET result = '1', finished_at = started_at - 1 WHERE id = 'c2'",
            "CHECK",
        ),
        ("UPDATE approvals SET answer = '1' WHERE id = 'q'", "closed already"),
        ("UPDATE approvals SET status = 'open' WHERE id = 'q'", "closed already"),
        (
            "UPDATE approvals SET status = 'answered', closed_at = asked_at WHERE id = 'q2'",
            "CHECK",
        ),
        ("UPDATE approvals SET answer = '1' WHERE id = 'q2'", "CHECK"),
        ("UPDATE approvals SET status = 'withdrawn' WHERE id = 'q2'", "CHECK"),
        (
            "UPDATE approvals SET status = 'maybe', closed_at = asked_at WHERE id = 'q2'",
            "CHECK",
        ),
        ("UPDATE approvals SET run = 'n' WHERE id = 'q2'", "FOREIGN KEY"),
        ("UPDATE checkpoints SET seq = 0", "CHECK"),
        ("UPDATE checkpoints SET is_snapshot = 0", "CHECK"),
        ("UPDATE checkpoints SET is_snapshot = 2", "CHECK"),
        ("UPDATE checkpoints SET run = 'n'", "FOREIGN KEY"),
        ("UPDATE runs SET id = 'other' WHERE id = 'r'", "FOREIGN KEY"),
        ("UPDATE runs SET updated_at = created_at - 1", "CHECK"),
        ("UPDATE runs SET epoch = epoch - 1", "only grows"),
        ("UPDATE runs SET holder = 'h'", "CHECK"),
        ("UPDATE runs SET lease_until = 1", "CHECK"),
        ("UPDATE runs SET dead_at = 1", "CHECK"),
        ("UPDATE runs SET due = 1", "generated column"),
    ] {
        refused(&file.raw, sql, reason);
    }
}

/// Deleting the row of a session deletes everything that belongs to it, also from other programs.
#[tokio::test]
async fn rows_are_deleted_with_their_session() {
    let file = file().await;
    file.store.commit("local", "free", 0, one_of_each("y")).await.unwrap();
    let tables = [
        "sessions",
        "runs",
        "messages",
        "events",
        "tool_calls",
        "approvals",
        "checkpoints",
        "journal_streams",
        "journal_records",
    ];
    let counts = || {
        tables.map(|table| -> i64 {
            file.raw
                .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
                .unwrap()
        })
    };
    assert_eq!(counts(), [2, 2, 4, 2, 4, 4, 1, 2, 2]);
    file.raw.execute("DELETE FROM sessions WHERE id = 's'", []).unwrap();
    assert_eq!(counts(), [1, 1, 2, 1, 2, 2, 0, 1, 1]);
    assert_eq!(file.store.read(&stream_of("local", "s"), 0).await.unwrap(), []);
    assert!(file.store.delete_session("local", "free").await.unwrap());
    assert_eq!(counts(), [0; 9]);
}

#[tokio::test]
async fn damaged_rows_are_reported_and_harm_no_others() {
    let file = file().await;
    file.store.commit("local", "free", 0, one_of_each("y")).await.unwrap();
    file.raw
        .execute_batch(
            "PRAGMA ignore_check_constraints = ON; DROP TRIGGER tool_calls_finished;
                        DROP TRIGGER messages_metadata_updated",
        )
        .unwrap();
    for damage in [
        "UPDATE messages SET metadata = '{', type = 'user_input' WHERE id = 'm' AND session = 1",
        "UPDATE events SET data = '{' WHERE session = 1",
        "UPDATE runs SET input = '{' WHERE session = 1",
        "UPDATE tool_calls SET arguments = '{' WHERE session = 1",
        "UPDATE checkpoints SET data = '{' WHERE session = 1",
        "UPDATE sessions SET metadata = '[]' WHERE session = 1",
    ] {
        file.raw.execute(damage, []).unwrap();
    }
    let (store, filter) = (&file.store, MessageFilter::new());
    let errors = [
        store.get_session("local", "s").await.unwrap_err(),
        store.messages("local", "s", &filter).await.unwrap_err(),
        store.events("local", "s", &Default::default()).await.unwrap_err(),
        store.runs("local", "s", &RunFilter::new()).await.unwrap_err(),
        store.calls("local", "s", "r").await.unwrap_err(),
        store.checkpoints(RunKey::new("local", "s", "r"), 0).await.unwrap_err(),
        store.commit("local", "s", 1, Commit::new()).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), SessionErrorKind::Serialization, "{error:?}");
        assert!(error.message().contains("damaged"), "{error:?}");
    }
    assert_eq!(store.messages("local", "free", &filter).await.unwrap().len(), 1);
    file.raw
        .execute("UPDATE runs SET status = 'paused' WHERE session = 2", [])
        .unwrap();
    let error = store.runs("local", "free", &RunFilter::new()).await.unwrap_err();
    assert!(
        format!("{error:?}").contains("`paused` is not a known name"),
        "{error:?}"
    );
}

#[tokio::test]
async fn erased_sessions_are_not_left_in_the_files() {
    let file = file().await;
    for (user, word) in [("ann", "PLUMTREE"), ("ben", "KEPTWORD")] {
        for number in 0..20 {
            let id = format!("{number} {word}");
            let owner = Actor::user(user);
            file.store
                .create(NewSession::new(&*id).with_owner(owner).with_metadata("x", word))
                .await
                .unwrap();
            file.store.commit("local", &id, 0, one_of_each(word)).await.unwrap();
            let checkpoint = NewCheckpoint::snapshot(word, json!(word));
            file.store
                .save_checkpoint(RunKey::new("local", &id, "r"), 0, checkpoint)
                .await
                .unwrap();
        }
    }
    let found = |word: &str| {
        let files = std::fs::read_dir(file.directory.path()).unwrap();
        let contains = |path: std::path::PathBuf| {
            let bytes = std::fs::read(path).unwrap();
            bytes.windows(word.len()).any(|window| window == word.as_bytes())
        };
        files.filter(|entry| contains(entry.as_ref().unwrap().path())).count()
    };
    assert!(found("PLUMTREE") > 0);
    assert_eq!(file.store.erase_sessions(&Actor::user("ann")).await.unwrap(), 20);
    assert!(found("KEPTWORD") > 0);
    assert_eq!(found("PLUMTREE"), 0, "erased data can be read in the files");
}

#[tokio::test]
async fn a_schedule_that_cannot_be_read_keeps_no_other_from_being_due() {
    let file = file().await;
    for id in ["damaged", "good"] {
        let new = NewSchedule::new(id, Timing::cron("0 9 * * *"), json!({}));
        agcore_schedule::ScheduleStore::create(&file.store, new).await.unwrap();
    }
    // As a newer version could write it.
    let damage = "UPDATE schedules SET next_at = 0;
                  UPDATE schedules SET timing = '{\"moon\":\"full\"}' WHERE id = 'damaged'";
    file.raw.execute_batch(damage).unwrap();
    let due = async |after, limit| agcore_schedule::ScheduleStore::due(&file.store, after, limit).await;
    let first = due(None, 1).await.unwrap();
    assert_eq!((first.schedules.len(), &*first.unreadable[0].id), (0, "damaged"));
    let rest = due(first.next.as_ref(), 2).await.unwrap();
    assert_eq!((&*rest.schedules[0].id, rest.next), ("good", None));
}

#[tokio::test]
async fn an_open_store_notices_that_a_newer_version_has_changed_the_tables() {
    let file = file().await;
    assert!(!file.store.is_outdated().await.unwrap());
    let upgrade = "ALTER TABLE runs ADD COLUMN label TEXT NOT NULL DEFAULT 'none'; PRAGMA user_version = 2";
    file.raw.execute_batch(upgrade).unwrap();
    assert!(file.store.is_outdated().await.unwrap());
    // It still works.
    file.store.create(NewSession::new("other")).await.unwrap();
}
