//! Servers that end while runs are active.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agcore_chat::SystemClock;
use agcore_server::{Limits, Unfinished};
use agcore_store::sqlite::SqliteStore;
use agcore_testkit::{
    scripted::{ScriptStep, ScriptedProvider},
    stores::faulty::{FaultPlan, FaultyStore, StoreFault},
};
use serde_json::json;

use crate::{
    shared,
    support::{Running, Store, builder, call, input, store, text_of},
};

#[tokio::test]
async fn a_run_continues_in_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let open = async || -> Store {
        let path = folder.path().join("sessions.db");
        let store: Store = Arc::new(SqliteStore::open(path, Arc::new(SystemClock::new())).await.unwrap());
        store
    };
    let first = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "say")]),
        ScriptStep::text("Half of").then_hang(),
    ]);
    let server = Running::start(builder(&first, &open().await)).await;
    let mut events = server
        .stream(
            http::Method::POST,
            "/api/v1/agent/run",
            &[],
            Some(&input("t", "r1", "Say it.")),
        )
        .await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    let mut follower = server.follow_open("t", "r1", None).await;
    let seen = follower.until("TEXT_MESSAGE_CONTENT").await;
    server.kill().await;

    let second = crate::support::texts(["The whole answer."]);
    let server = Running::start(builder(&second, &open().await)).await;
    let rest = server.follow("t", "r1", seen.last().unwrap().id).await;
    let all = server.follow("t", "r1", None).await;
    assert_eq!([seen, rest].concat(), all);
    let data: Vec<_> = all.iter().map(|event| event.data.clone()).collect();
    agcore_agui::check_order(data.iter().cloned()).unwrap();
    assert_eq!(data.last().unwrap()["type"], "RUN_FINISHED");
    // The broken text has ended, and the repeated one is another message. The tool has run once.
    assert_eq!(text_of(&data), "Half ofThe whole answer.");
    let results = data.iter().filter(|event| event["type"] == "TOOL_CALL_RESULT").count();
    assert_eq!(results, 1);
    let starts: Vec<_> = data
        .iter()
        .filter(|event| event["type"] == "TEXT_MESSAGE_START")
        .collect();
    assert_ne!(starts[0]["messageId"], starts[1]["messageId"]);
    second.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn a_cancellation_that_was_stored_is_carried_out_by_the_next_process() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::text("Half").then_hang()]);
    let server = Running::start(builder(&provider, &store)).await;
    let mut events = server
        .stream(
            http::Method::POST,
            "/api/v1/agent/run",
            &[],
            Some(&input("t", "r1", "Hello")),
        )
        .await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    server.kill().await;
    // The process ended after the wish was stored, before it was carried out.
    store.request_cancel("local", "t", "r1").await.unwrap();

    let server = Running::start(builder(&provider, &store)).await;
    let events = server.follow("t", "r1", None).await;
    assert_eq!(events.last().unwrap().data["outcome"]["type"], "cancelled");
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_stops_waits_for_runs_and_parks_those_that_hang() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::text("Half").then_hang(), ScriptStep::text("Whole.")]);
    let limits = Limits::new().with_drain(Duration::from_millis(50));
    let server = Running::start(builder(&provider, &store).with_limits(limits)).await;
    let mut events = server
        .stream(
            http::Method::POST,
            "/api/v1/agent/run",
            &[],
            Some(&input("t", "r1", "Hello")),
        )
        .await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    server.stop().await;
    let rest = events.rest().await;
    assert!(
        rest.iter().all(|event| event.data["type"] != "RUN_FINISHED"),
        "{rest:?}"
    );

    let server = Running::start(builder(&provider, &store)).await;
    let all = server.follow("t", "r1", None).await;
    assert_eq!(all.last().unwrap().data["type"], "RUN_FINISHED");
    server.stop().await;
}

#[tokio::test]
async fn a_run_that_was_stored_but_never_began_begins() {
    let store = store();
    let server = Running::start(builder(&crate::support::texts(["First."]), &store)).await;
    server.run(&input("t", "r1", "Hello")).await;
    server.kill().await;
    // As if the process had ended right after the run was stored.
    let session = store.get_session("local", "t").await.unwrap().unwrap();
    let message = serde_json::to_value(agcore_chat::Message::user("Again")).unwrap();
    let run = agcore_session::RunChange::new("r2", agcore_session::RunStatus::Queued)
        .with_input(json!({"agent": "ada", "message": message}));
    let started = agcore_agui::Encoder::new("t", "r2")
        .push(agcore_agui::Run::started().into())
        .unwrap()
        .remove(0);
    let started = agcore_session::NewEvent::new("r2", "agui", serde_json::to_value(started).unwrap());
    let commit = agcore_session::Commit::new().with_run(run).with_event(started);
    store.commit("local", "t", session.end, commit).await.unwrap();

    let server = Running::start(builder(&crate::support::texts(["Second."]), &store)).await;
    let events = server.follow("t", "r2", None).await;
    assert_eq!(text_of(events.iter().map(|event| &event.data)), "Second.");
    server.stop().await;
}

#[tokio::test]
async fn a_run_survives_a_database_that_fails_and_loses_answers() {
    // Each plan fails other calls; whatever happens, clients see the run once and in order.
    for (offset, fault) in (0..12).flat_map(|offset| [(offset, StoreFault::Fail), (offset, StoreFault::LoseAnswer)]) {
        let commits = Arc::new(AtomicUsize::new(0));
        let plan = FaultPlan::from_fn(move |_, method| {
            let count = commits.fetch_add(usize::from(method == "commit"), Ordering::Relaxed);
            // The first commit stores the run: if it fails, the client learns that.
            (method == "commit" && count > 0 && count % 12 == offset).then_some(fault)
        });
        let inner = agcore_session::InMemorySessionStore::new(Arc::new(SystemClock::new()));
        let store: Store = Arc::new(FaultyStore::new(inner, plan));
        let provider = ScriptedProvider::new([
            ScriptStep::calls([call("c1", "say")]),
            ScriptStep::text("One two three."),
            ScriptStep::text("One two three."),
            ScriptStep::text("One two three."),
        ]);
        let server = Running::start(builder(&provider, &store)).await;
        let started = server.post("/api/v1/agent/runs/t", &input("t", "r1", "Count.")).await;
        assert_eq!(started.status.as_u16(), 202, "{}", started.text);
        let events = server.follow("t", "r1", None).await;
        let data: Vec<_> = events.iter().map(|event| event.data.clone()).collect();
        agcore_agui::check_order(data.iter().cloned()).unwrap();
        assert_eq!(data.last().unwrap()["type"], "RUN_FINISHED", "{offset} {fault:?}");
        assert_eq!(events, server.follow("t", "r1", None).await, "{offset} {fault:?}");
        let results = data.iter().filter(|event| event["type"] == "TOOL_CALL_RESULT").count();
        // A reply that could not be stored is requested again, and here the script has none with a call any more.
        assert!(results <= 1, "{offset} {fault:?}: {results}");
        server.stop().await;
    }
}

#[tokio::test]
async fn the_runs_of_a_copied_database_can_be_cancelled_instead() {
    if shared::is_tested() {
        // A server that shares the store refuses.
        return;
    }
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::text("a").then_hang()]);
    let server = Running::start(builder(&provider, &store)).await;
    let path = "/api/v1/agent/run";
    let mut events = server
        .stream(http::Method::POST, path, &[], Some(&input("t", "r1", "Hello")))
        .await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    server.kill().await;

    let copy = builder(&provider, &store).with_unfinished(Unfinished::Cancel);
    let server = Running::start(copy).await;
    server.follow("t", "r1", None).await;
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(session["runs"][0]["status"], "cancelled", "{session}");
    // No model was asked.
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_stops_says_so_before_it_closes_the_door() {
    let limits = Limits::new().with_lame_duck(Duration::from_secs(3600));
    let server = Running::start(builder(&ScriptedProvider::new([]), &store()).with_limits(limits)).await;
    assert_eq!(server.get("/ready").await.status.as_u16(), 200);
    server.stop.cancel();
    // Each request is a connection of its own.
    while server.get("/ready").await.status.as_u16() == 200 {
        tokio::task::yield_now().await;
    }
    server.get("/ready").await.assert_problem(503, "shutting_down");
    let refused = server.post("/api/v1/agent/run", &input("t", "r1", "Hello")).await;
    refused.assert_problem(503, "shutting_down");
    assert_eq!(server.get("/health").await.status.as_u16(), 200);
    server.kill().await;
}
