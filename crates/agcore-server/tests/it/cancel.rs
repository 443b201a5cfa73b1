//! Cancelling runs, and several runs on one thread.

use agcore_server::BusyPolicy;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::json;

use crate::support::{Running, builder, input, store, text_of};

fn hanging() -> ScriptedProvider {
    ScriptedProvider::new([
        ScriptStep::text("Let me think").then_hang(),
        ScriptStep::text("Second."),
    ])
}

#[tokio::test]
async fn disconnecting_is_not_cancelling_but_cancelling_is() {
    let server = Running::start(builder(&hanging(), &store())).await;
    let mut events = server
        .stream(
            http::Method::POST,
            "/api/v1/agent/run",
            &[],
            Some(&input("t", "r1", "Hello")),
        )
        .await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    drop(events);
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(session["runs"][0]["status"], "running");

    let mut events = server.follow_open("t", "r1", None).await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    let cancelled = server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    assert_eq!(cancelled.status.as_u16(), 200);
    let rest = events.rest().await;
    let end = &rest.last().unwrap().data;
    assert_eq!(
        (&end["type"], &end["outcome"]["type"]),
        (&json!("RUN_FINISHED"), &json!("cancelled")),
        "{end}"
    );
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["status"], &session["runs"][0]["status"]),
        (&json!("failed"), &json!("cancelled"))
    );
    assert_eq!(text_of(&server.run(&input("t", "r2", "Again")).await), "Second.");
    server.stop().await;
}

#[tokio::test]
async fn clients_before_1_0_see_a_cancelled_run_as_an_error() {
    let server = Running::start(builder(&hanging(), &store())).await;
    let mut old = input("t", "r1", "Hello");
    old.as_object_mut().unwrap().remove("protocolVersion");
    let mut events = server
        .stream(http::Method::POST, "/api/v1/agent/run", &[], Some(&old))
        .await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    let rest = events.rest().await;
    let end = &rest.last().unwrap().data;
    assert_eq!(
        (&end["type"], &end["code"]),
        (&json!("RUN_ERROR"), &json!("RUN_CANCELED")),
        "{end}"
    );
    server.stop().await;
}

#[tokio::test]
async fn a_second_run_is_refused_queued_or_interrupts() {
    let server = Running::start(builder(&hanging(), &store())).await;
    let mut events = server
        .stream(
            http::Method::POST,
            "/api/v1/agent/run",
            &[],
            Some(&input("t", "r1", "Hello")),
        )
        .await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    server
        .post("/api/v1/agent/runs/t", &input("t", "r2", "More"))
        .await
        .assert_problem(409, "session_busy");
    server
        .with(http::Method::DELETE, "/api/v1/agent/sessions/t", &[], None)
        .await
        .assert_problem(409, "session_busy");
    server.kill().await;

    let server = Running::start(builder(&hanging(), &store()).with_busy(BusyPolicy::Queue)).await;
    let mut events = server
        .stream(
            http::Method::POST,
            "/api/v1/agent/run",
            &[],
            Some(&input("t", "r1", "Hello")),
        )
        .await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    assert_eq!(
        server
            .post("/api/v1/agent/runs/t", &input("t", "r2", "More"))
            .await
            .status
            .as_u16(),
        202
    );
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(session["runs"][1]["status"], "queued");
    server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    let second = server.follow("t", "r2", None).await;
    assert_eq!(text_of(second.iter().map(|event| &event.data)), "Second.");
    server.stop().await;

    let server = Running::start(builder(&hanging(), &store()).with_busy(BusyPolicy::Interrupt)).await;
    let mut first = server
        .stream(
            http::Method::POST,
            "/api/v1/agent/run",
            &[],
            Some(&input("t", "r1", "Hello")),
        )
        .await;
    first.until("TEXT_MESSAGE_CONTENT").await;
    assert_eq!(text_of(&server.run(&input("t", "r2", "More")).await), "Second.");
    assert_eq!(first.rest().await.last().unwrap().data["outcome"]["type"], "cancelled");
    server.stop().await;
}

#[tokio::test]
async fn a_run_that_waits_is_cancelled_before_it_begins() {
    let server = Running::start(builder(&hanging(), &store()).with_busy(BusyPolicy::Queue)).await;
    let mut events = server
        .stream(
            http::Method::POST,
            "/api/v1/agent/run",
            &[],
            Some(&input("t", "r1", "Hello")),
        )
        .await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    server.post("/api/v1/agent/runs/t", &input("t", "r2", "More")).await;
    server.post("/api/v1/agent/runs/t/r2/cancel", &json!({})).await;
    server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    let second = server.follow("t", "r2", None).await;
    assert_eq!(second.last().unwrap().data["outcome"]["type"], "cancelled");
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    assert!(!history.to_string().contains("More"), "{history}");
    server.stop().await;
}
