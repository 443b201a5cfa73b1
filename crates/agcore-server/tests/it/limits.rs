//! Limits, and clients that do not read.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Actor, SystemClock};
use agcore_server::Limits;
use agcore_store::sqlite::SqliteOptions;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::json;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpSocket, TcpStream},
};

use crate::{
    shared,
    support::{Answer, Running, Store, builder, input, store, texts},
    tenants::{bearer, tokens},
};

fn hanging() -> ScriptedProvider {
    ScriptedProvider::new([ScriptStep::text("a").then_hang(), ScriptStep::text("b").then_hang()])
}

#[tokio::test]
async fn users_have_only_so_many_runs_and_streams() {
    let limits = Limits::new().with_max_runs_per_user(1).with_max_streams_per_user(2);
    let server = Running::start(builder(&hanging(), &store()).with_limits(limits)).await;
    let mut one = server
        .stream(
            http::Method::POST,
            "/api/v1/agent/run",
            &[],
            Some(&input("t", "r1", "Hello")),
        )
        .await;
    one.until("TEXT_MESSAGE_CONTENT").await;
    server
        .post("/api/v1/agent/runs/u", &input("u", "r1", "Hello"))
        .await
        .assert_problem(429, "too_many_runs");
    let two = server.follow_open("t", "r1", None).await;
    server
        .get("/api/v1/agent/runs/t/events?runId=r1")
        .await
        .assert_problem(429, "too_many_streams");
    // A refused stream starts no run.
    server
        .post("/api/v1/agent/run", &input("v", "r1", "Hello"))
        .await
        .assert_problem(429, "too_many_streams");
    server
        .get("/api/v1/agent/sessions/v")
        .await
        .assert_problem(404, "not_found");
    drop((one, two));
    server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    server.kill().await;
}

#[tokio::test]
async fn the_queue_has_only_so_much_space() {
    let limits = Limits::new().with_max_runs(1);
    let server = Running::start(builder(&hanging(), &store()).with_limits(limits)).await;
    let mut one = server
        .stream(
            http::Method::POST,
            "/api/v1/agent/run",
            &[],
            Some(&input("t", "r1", "Hello")),
        )
        .await;
    one.until("TEXT_MESSAGE_CONTENT").await;
    server
        .post("/api/v1/agent/runs/u", &input("u", "r1", "Hello"))
        .await
        .assert_problem(429, "queue_full");
    server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    one.rest().await;
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_cut_off_and_the_run_continues() {
    // More than the buffers of both ends of a connection on loopback.
    let long = ("x".repeat(64 << 10) + " ").repeat(128);
    let limits = Limits::new().with_write_timeout(Duration::from_millis(200));
    let store = store();
    let mut served = builder(&texts([long.as_str()]), &store).with_limits(limits);
    if shared::is_tested() {
        // A machine without time must not lose the lease: the model has one answer.
        served = served.with_sharing(shared::sharing().with_lease(Duration::from_secs(60)));
    }
    let server = Running::start(served).await;
    let body = input("t", "r1", "Tell me everything.").to_string();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut deaf = socket.connect(server.address).await.unwrap();
    let head = format!(
        "POST /api/v1/agent/run HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    deaf.write_all((head + &body).as_bytes()).await.unwrap();
    // The number of open streams goes up, and down again without any help of the client.
    let streams = async || server.get("/metrics").await.text.contains("agcore_streams_open 1");
    while !streams().await {
        tokio::task::yield_now().await;
    }
    while streams().await {
        tokio::task::yield_now().await;
    }
    let status = async || server.get("/api/v1/agent/sessions/t").await.json()["runs"][0]["status"].clone();
    while status().await == "running" {
        tokio::task::yield_now().await;
    }
    assert_eq!(status().await, "completed");
    drop(deaf);
    server.stop().await;
}

#[tokio::test]
async fn a_silent_stream_sends_comments() {
    let limits = Limits::new().with_keep_alive(Duration::from_millis(20));
    let server = Running::start(builder(&hanging(), &store()).with_limits(limits)).await;
    server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    let mut raw = TcpStream::connect(server.address).await.unwrap();
    raw.write_all(b"GET /api/v1/agent/runs/t/events?runId=r1 HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .unwrap();
    let mut read = String::new();
    let mut buffer = [0; 4096];
    while !read.contains(": keep-alive\n\n") {
        let count = tokio::io::AsyncReadExt::read(&mut raw, &mut buffer).await.unwrap();
        assert!(count > 0, "{read}");
        read.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    server.kill().await;
}

/// A model that never answers.
fn silent(calls: usize) -> ScriptedProvider {
    ScriptedProvider::new((0..calls).map(|_| ScriptStep::text("a").then_hang()))
}

/// Starts runs on threads of their own, all at the same time, each with the token of a user.
async fn start_all(server: &Running, users: &[String], count: usize) -> Vec<Answer> {
    let starts = (0..count).map(|number| {
        let (thread, user) = (format!("t{number}"), users[number % users.len()].clone());
        async move {
            let path = format!("/api/v1/agent/runs/{thread}");
            let body = input(&thread, "r1", "Hello");
            let headers = [("authorization", &*user)];
            server.with(http::Method::POST, &path, &headers, Some(&body)).await
        }
    });
    futures_util::future::join_all(starts).await
}

fn count(answers: &[Answer], text: &str) -> usize {
    answers.iter().filter(|answer| answer.text.contains(text)).count()
}

/// From 200 starts that arrive together, exactly as many are accepted as the limit allows, and the others leave nothing behind.
async fn starts_together(store: Store) {
    let tokens = tokens(&store);
    let ann = [bearer(&tokens, 1, Actor::new("acme", "ann")).await];
    let bob = [bearer(&tokens, 2, Actor::new("evil", "bob")).await];
    let server = Running::start(builder(&silent(17), &store).with_authenticator(tokens)).await;
    let answers = start_all(&server, &ann, 200).await;
    assert_eq!((count(&answers, "runId"), count(&answers, "too_many_runs")), (16, 184));
    let headers = [("authorization", &*ann[0])];
    let list = server
        .with(http::Method::GET, "/api/v1/agent/sessions?limit=200", &headers, None)
        .await;
    assert_eq!(list.json()["sessions"].as_array().unwrap().len(), 16);
    assert_eq!(count(&start_all(&server, &bob, 1).await, "runId"), 1);
    server.kill().await;
}

#[tokio::test]
async fn runs_that_start_together_respect_the_limit() {
    starts_together(store()).await;
}

#[tokio::test]
async fn runs_that_start_together_respect_the_limit_with_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("sessions.db"));
    let database = options.open(Arc::new(SystemClock::new())).await.unwrap();
    starts_together(Arc::new(database.clone())).await;
    database.close().await;
}

#[tokio::test]
async fn a_tenant_cannot_take_all_places() {
    let store = store();
    let tokens = tokens(&store);
    let (mut many, mut number) = (Vec::new(), 0);
    for user in ["a", "b", "c", "d"] {
        number += 1;
        many.push(bearer(&tokens, number, Actor::new("acme", user)).await);
    }
    let other = [bearer(&tokens, 9, Actor::new("other", "ann")).await];
    let limits = Limits::new().with_max_runs(20).with_max_streams_per_tenant(3);
    let server = Running::start(
        builder(&silent(20), &store)
            .with_authenticator(tokens)
            .with_limits(limits),
    )
    .await;
    let answers = start_all(&server, &many, 40).await;
    assert_eq!((count(&answers, "runId"), count(&answers, "too_many_runs")), (10, 30));
    let answers = start_all(&server, &other, 12).await;
    assert_eq!((count(&answers, "runId"), count(&answers, "queue_full")), (10, 2));

    let headers = [("authorization", &*many[0])];
    let mut open = Vec::new();
    for _ in 0..3 {
        let path = open_path(&server, &headers).await;
        open.push(server.stream(http::Method::GET, &path, &headers, None).await);
    }
    let path = open_path(&server, &headers).await;
    let refused = server.with(http::Method::GET, &path, &headers, None).await;
    refused.assert_problem(429, "too_many_streams");
    server.kill().await;
}

/// Returns the path of the events of an active run of a user.
async fn open_path(server: &Running, headers: &[(&str, &str)]) -> String {
    let list = server
        .with(http::Method::GET, "/api/v1/agent/sessions", headers, None)
        .await;
    let thread = list.json()["sessions"][0]["threadId"].as_str().unwrap().to_owned();
    format!("/api/v1/agent/runs/{thread}/events?runId=r1")
}
