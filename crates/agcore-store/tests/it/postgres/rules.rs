//! Rules of sessions that the database itself enforces, and values that it must keep exactly.

use std::sync::Arc;

use agcore_chat::{Actor, Money};
use agcore_session::{
    Billing, Commit, MessageFilter, MessageRole, NewEvent, NewMessage, NewSession, Record, RunChange, RunStatus,
    SessionErrorKind, SessionReader, SessionRetention, SessionState, SessionWriter, Timestamp,
};
use agcore_store::postgres::PostgresStore;
use agcore_testkit::clock::ManualClock;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use super::server::{Names, admin, need_server, options_of, url};

/// Opens a store with a session that is billed in euros and completed, and a run that is over.
async fn open(schema: &str) -> PostgresStore {
    let store = options_of(&url(), schema)
        .open(Arc::new(ManualClock::new()))
        .await
        .unwrap();
    store
        .create(NewSession::new("s").with_billing(Billing::new("EUR")))
        .await
        .unwrap();
    let commit = Commit::new()
        .with_record(Record::new("k", 1, Timestamp::default(), 1.into()))
        .with_run(RunChange::new("r", RunStatus::Running))
        .with_run(RunChange::new("r", RunStatus::Completed))
        .with_state(SessionState::running())
        .with_message(NewMessage::new("m", MessageRole::User, "x").with_cost(Money::from_micros(1, "EUR")))
        .with_event(NewEvent::new("r", "k", json!(1)));
    store.commit("local", "s", 0, commit).await.unwrap();
    let end = Commit::new().with_state(SessionState::completed());
    store.commit("local", "s", 1, end).await.unwrap();
    store
}

#[tokio::test]
async fn other_programs_cannot_break_the_rules() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let _store = open(&schema).await;
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    let message = "INSERT INTO messages (session, seq, id, role, visibility_mask, cost, currency, created_at, content) SELECT session";
    let typed = "INSERT INTO messages (session, seq, id, role, type, metadata, visibility_mask, created_at, content) SELECT session";
    let status = |status: &str| format!("UPDATE sessions SET status = '{status}'");
    for (sql, expected) in [
        (status("failed"), "cannot get this status"),
        (status("other"), "cannot get this status"),
        (
            "UPDATE sessions SET currency = 'USD'".to_owned(),
            "billing of a session does not change",
        ),
        (
            "UPDATE sessions SET error_id = 'e'".to_owned(),
            "violates check constraint",
        ),
        (
            "UPDATE runs SET status = 'running'".to_owned(),
            "the run cannot get this status",
        ),
        (
            format!("{message}, 2, 'n', 'user', 3, 0.1, 'USD', 0, '' FROM sessions"),
            "messages_currency",
        ),
        (
            format!("{message}, 2, 'n', 'user', 3, -0.1, 'EUR', 0, '' FROM sessions"),
            "violates check constraint",
        ),
        (
            format!("{message}, 0, 'n', 'user', 3, NULL, NULL, 0, '' FROM sessions"),
            "violates check constraint",
        ),
        (
            format!("{message}, -1, 'n', 'user', 3, NULL, NULL, 0, '' FROM sessions"),
            "violates check constraint",
        ),
        (
            format!("{message}, -1, 'n', 'tool', 0, NULL, NULL, 0, '' FROM sessions"),
            "violates check constraint",
        ),
        (
            format!("{message}, 2, 'n', 'robot', 3, NULL, NULL, 0, '' FROM sessions"),
            "violates check constraint",
        ),
        (
            format!("{message}, 1, 'n', 'user', 3, NULL, NULL, 0, '' FROM sessions"),
            "duplicate key",
        ),
        (
            format!("{message}, 2, 'm', 'user', 3, NULL, NULL, 0, '' FROM sessions"),
            "duplicate key",
        ),
        (
            format!("{typed}, 2, 'n', 'user', 'note', '{{\"type\":\"note\"}}', 3, 0, '' FROM sessions"),
            "messages_type",
        ),
        (
            format!("{typed}, 2, 'n', 'tool', 'user_input', '{{\"type\":\"user_input\"}}', 3, 0, '' FROM sessions"),
            "messages_type",
        ),
        (
            format!("{typed}, 2, 'n', 'user', 'user_input', '{{}}', 3, 0, '' FROM sessions"),
            "messages_metadata",
        ),
        (
            format!("{typed}, 2, 'n', 'user', 'user_input', '[]', 3, 0, '' FROM sessions"),
            "messages_metadata",
        ),
        (
            format!(
                "{typed}, 2, 'n', 'assistant', 'tool_call', '{{\"type\":\"tool_call\",\"call_id\":\"c\"}}', 3, 0, '' FROM sessions"
            ),
            "messages_metadata",
        ),
        (
            "INSERT INTO events SELECT session, 2, 'missing', 'k', 0, '1' FROM sessions".to_owned(),
            "foreign key",
        ),
        (
            "INSERT INTO checkpoints SELECT session, 'r', 1, 'x', false, 0, '1' FROM sessions".to_owned(),
            "check constraint",
        ),
    ] {
        let statement = AssertSqlSafe(format!("SET search_path = {schema}; {sql}"));
        let error = sqlx::raw_sql(statement).execute(&mut connection).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{sql}: {error}");
    }
    let allowed = format!("{message}, 2, 'n', 'user', 3, 0.1, 'EUR', 0, '' FROM sessions");
    admin(&format!(
        "SET search_path = {schema}; {allowed}; UPDATE sessions SET status = 'running'"
    ))
    .await;
}

#[tokio::test]
async fn other_programs_cannot_change_erased_sessions() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let store = open(&schema).await;
    assert!(store.erase_session("local", "s").await.unwrap());
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    for sql in [
        "UPDATE sessions SET title = 'x'",
        "UPDATE sessions SET erased_at = NULL",
        "UPDATE messages SET content = 'x'",
        "INSERT INTO runs (session, id, status, created_at, updated_at) SELECT session, 'x', 'queued', 0, 0 FROM sessions",
        "INSERT INTO messages (session, seq, id, role, visibility_mask, created_at, content)
         SELECT session, 9, 'x', 'user', 3, 0, '' FROM sessions",
    ] {
        let statement = AssertSqlSafe(format!("SET search_path = {schema}; {sql}"));
        let error = sqlx::raw_sql(statement).execute(&mut connection).await.unwrap_err();
        assert!(error.to_string().contains("the session was erased"), "{sql}: {error}");
    }
    let (sessions, costs): (i64, String) = sqlx::query_as(AssertSqlSafe(format!(
        "SELECT (SELECT count(*) FROM {schema}.sessions), (SELECT sum(cost)::text FROM {schema}.messages)"
    )))
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!((sessions, &*costs), (1, "0.000001"));
}

#[tokio::test]
async fn other_programs_cannot_make_bad_parts() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let store = open(&schema).await;
    store.create(NewSession::new("part").with_part_of("s")).await.unwrap();
    let other = NewSession::new("theirs").with_owner(Actor::user("ben"));
    store.create(other).await.unwrap();
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    let insert = |whole: &str| {
        format!(
            "INSERT INTO sessions (tenant, id, \"user\", status, created_at, updated_at, stream, metadata, part_of)
             SELECT 'local', 'x', 'local', 'pending', 0, 0, 'x', '{{}}', session FROM sessions WHERE {whole}"
        )
    };
    for (sql, expected) in [
        (insert("id = 'theirs'"), "cannot be a part"),
        (insert("id = 'part'"), "cannot be a part"),
        (
            "UPDATE sessions SET part_of = NULL WHERE id = 'part'".to_owned(),
            "stays a part",
        ),
        (insert("erased_at IS NOT NULL AND part_of IS NULL"), "cannot be a part"),
    ] {
        if sql.contains("erased_at IS NOT NULL") {
            assert!(store.erase_session("local", "s").await.unwrap());
        }
        let statement = AssertSqlSafe(format!("SET search_path = {schema}; {sql}"));
        let error = sqlx::raw_sql(statement).execute(&mut connection).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{sql}: {error}");
    }
}

#[tokio::test]
async fn costs_and_titles_are_kept_exactly() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let store = open(&schema).await;
    let costs = [0, 1, 999_999, 1_000_001, i64::MAX - 1, i64::MAX];
    let mut commit = Commit::new().with_title("a\0b\u{10}");
    for (number, micros) in costs.into_iter().enumerate() {
        let message = NewMessage::new(format!("{number}"), MessageRole::Assistant, "\0");
        commit = commit.with_message(
            message
                .with_cost(Money::from_micros(micros, "EUR"))
                .with_profile_version("\0"),
        );
    }
    store.commit("local", "s", 1, commit).await.unwrap();
    let messages = store
        .messages("local", "s", &MessageFilter::new().after(1))
        .await
        .unwrap();
    let read = messages.iter().map(|message| message.cost.as_ref().unwrap().micros);
    assert!(read.eq(costs));
    assert!(messages.iter().all(|message| message.content == "\0"));
    assert!(
        messages
            .iter()
            .all(|message| message.profile_version.as_deref() == Some("\0"))
    );
    let session = store.get_session("local", "s").await.unwrap().unwrap();
    assert_eq!(session.title.as_deref(), Some("a\0b\u{10}"));
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    let sql = format!("SELECT cost::text FROM {schema}.messages WHERE id = '3'");
    let cost: String = sqlx::query_scalar(AssertSqlSafe(sql))
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(cost, "1.000001");
}

#[tokio::test]
async fn damaged_sessions_are_reported() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let store = open(&schema).await;
    admin(&format!("UPDATE {schema}.sessions SET metadata = '[1]'")).await;
    let error = store.get_session("local", "s").await.unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::Serialization);
    assert!(error.message().contains("a stored value is damaged"), "{error:?}");
    let error = store
        .commit("local", "s", 1, Commit::new().with_title("x"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::Serialization);
    assert_eq!(
        store.messages("local", "s", &MessageFilter::new()).await.unwrap().len(),
        1
    );
}
