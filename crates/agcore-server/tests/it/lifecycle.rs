//! Data that is removed: threads that users delete, users that are erased, and data that is too old.

use std::sync::Arc;

use agcore_chat::{Actor, SystemClock};
use agcore_memory::{MemoryItem, MemoryStore};
use agcore_session::{Billing, Commit, MessageRole, Money, NewMessage, NewSession, Retention, SessionFilter};
use agcore_store::sqlite::SqliteOptions;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use http::Method;
use serde_json::{Value, json};

use crate::support::{Running, Store, builder, input, store, text_of, texts};

/// Stores a message with a cost in a new thread of the user `local`.
async fn spend(store: &Store, thread: &str, micros: i64) {
    let new = NewSession::new(thread).with_billing(Billing::new("EUR"));
    store.create(new).await.unwrap();
    let message = NewMessage::new("m", MessageRole::User, "secret").with_cost(Money::from_micros(micros, "EUR"));
    let commit = Commit::new().with_message(message);
    store.commit("local", thread, 0, commit).await.unwrap();
}

#[tokio::test]
async fn a_deleted_thread_leaves_only_its_bill() {
    let store = store();
    spend(&store, "t", 1_500_000).await;
    let server = Running::start(builder(&texts(["One.", "Two."]), &store)).await;
    server.run(&input("t", "r1", "Hello, secret")).await;
    let before = server.get("/api/v1/agent/usage").await.json()["total"].clone();
    assert_eq!(before["costs"], json!({"EUR": "1.500000"}));

    let delete = server.with(Method::DELETE, "/api/v1/agent/sessions/t", &[], None).await;
    assert_eq!(delete.status, 204);
    for path in ["sessions/t", "history?threadId=t", "runs/t/events?runId=r1"] {
        let answer = server.get(&format!("/api/v1/agent/{path}")).await;
        answer.assert_problem(404, "not_found");
    }
    let again = server.with(Method::DELETE, "/api/v1/agent/sessions/t", &[], None).await;
    again.assert_problem(404, "not_found");
    let usage = server.get("/api/v1/agent/usage").await.json();
    assert_eq!(usage["total"], before);
    let listed = server.get("/api/v1/agent/sessions").await.json();
    assert_eq!(listed["sessions"], json!([]));

    // What is left cannot be read or used under its new id.
    let id = usage["sessions"][0]["threadId"].as_str().unwrap().to_owned();
    assert!(id.starts_with("erased-"), "{id}");
    let answer = server.get(&format!("/api/v1/agent/sessions/{id}")).await;
    answer.assert_problem(404, "not_found");
    let sessions = store
        .sessions(&SessionFilter::new("local").with_erased())
        .await
        .unwrap();
    let messages = store
        .messages("local", &sessions[0].id, &Default::default())
        .await
        .unwrap();
    assert!(messages.iter().all(|message| message.content.is_empty()));

    // The id of the thread can be used again, also with the same run.
    let events = server.run(&input("t", "r1", "Hello again")).await;
    assert_eq!(text_of(&events), "Two.");
    server.stop().await;
}

#[tokio::test]
async fn a_server_removes_what_is_too_old() {
    let store = store();
    let server = Running::start(builder(&texts(["One."]), &store)).await;
    server.run(&input("t", "r1", "Hello")).await;
    server.stop().await;

    // A run that waits is needed, however old it is.
    let waiting = ScriptedProvider::new([ScriptStep::text("Half").then_hang()]);
    let retention = Retention::new().with_runs_per_session(0);
    let server = Running::start(builder(&waiting, &store).with_retention(retention)).await;
    let runs = async |thread: &str| {
        let session = server.get(&format!("/api/v1/agent/sessions/{thread}")).await.json();
        session["runs"].as_array().unwrap().len()
    };
    while runs("t").await > 0 {
        tokio::task::yield_now().await;
    }
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    assert_eq!(history["messages"].as_array().unwrap().len(), 2, "{history}");
    let gone = server.get("/api/v1/agent/runs/t/events?runId=r1").await;
    gone.assert_problem(404, "not_found");

    let mut open = server
        .stream(Method::POST, "/api/v1/agent/run", &[], Some(&input("u", "r2", "Hello")))
        .await;
    open.until("TEXT_MESSAGE_CONTENT").await;
    let pruned = store.prune(&retention, 100).await.unwrap();
    assert!(pruned.is_empty(), "{pruned:?}");
    assert_eq!(runs("u").await, 1);
    server.kill().await;
}

#[tokio::test]
async fn a_run_writes_nothing_back_after_its_user_was_erased() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::text("Half").then_hang(), ScriptStep::text("Whole.")]);
    let server = Running::start(builder(&provider, &store)).await;
    let mut events = server
        .stream(
            Method::POST,
            "/api/v1/agent/run",
            &[],
            Some(&input("t", "r1", "secret")),
        )
        .await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    assert_eq!(store.erase_sessions(&Actor::local()).await.unwrap(), 1);
    server
        .get("/api/v1/agent/sessions/t")
        .await
        .assert_problem(404, "not_found");
    let sessions = store
        .sessions(&SessionFilter::new("local").with_erased())
        .await
        .unwrap();
    let messages = store
        .messages("local", &sessions[0].id, &Default::default())
        .await
        .unwrap();
    assert!(
        messages.iter().all(|message| message.content.is_empty()),
        "{messages:?}"
    );
    server.kill().await;
    assert!(store.runs("local", "t", &Default::default()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_full_disk_is_reported_and_runs_work_when_there_is_space_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let clock = || Arc::new(SystemClock::new());
    SqliteOptions::new(&path).open(clock()).await.unwrap().close().await;
    let pages = path.metadata().unwrap().len() / 4096;
    let pages = u32::try_from(pages).unwrap() + 60;
    let database = SqliteOptions::new(&path)
        .with_max_pages(pages)
        .open(clock())
        .await
        .unwrap();
    let mut saved = 0;
    // Down to the last bytes, so that not even a small row fits.
    for size in [2_000, 50] {
        while database
            .save(MemoryItem::new(format!("{saved}"), "x".repeat(size)))
            .await
            .is_ok()
        {
            saved += 1;
        }
    }
    let store: Store = Arc::new(database.clone());
    let server = Running::start(builder(&texts(["Fits."]), &store)).await;
    let full = server
        .post("/api/v1/agent/run", &input("t", "r1", &"x".repeat(20_000)))
        .await;
    full.assert_problem(503, "store_unavailable");
    assert_eq!(server.get("/health").await.status, 200);
    assert!(
        store
            .get_session("local", "t")
            .await
            .unwrap()
            .is_none_or(|session| session.end == 0)
    );

    for item in 0..saved {
        assert!(
            MemoryStore::delete(&database, "local", &item.to_string())
                .await
                .unwrap()
        );
    }
    let events: Vec<Value> = server.run(&input("t", "r2", "Hello")).await;
    assert_eq!(text_of(&events), "Fits.");
    server.stop().await;
}
