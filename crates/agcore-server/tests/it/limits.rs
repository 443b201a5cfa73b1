//! Limits, and clients that do not read.

use std::time::Duration;

use agcore_server::Limits;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::json;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpSocket, TcpStream},
};

use crate::support::{Running, builder, input, store, texts};

fn hanging() -> ScriptedProvider {
    ScriptedProvider::new([ScriptStep::text("a").then_hang(), ScriptStep::text("b").then_hang()])
}

#[tokio::test]
async fn users_have_only_so_many_runs_and_streams() {
    let limits = Limits::new().with_max_runs_per_user(1).with_max_streams_per_user(2);
    let server = Running::start(builder(&hanging(), &store()).limits(limits)).await;
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
    let server = Running::start(builder(&hanging(), &store()).limits(limits)).await;
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
    let server = Running::start(builder(&texts([long.as_str()]), &store).limits(limits)).await;
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
    let server = Running::start(builder(&hanging(), &store()).limits(limits)).await;
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
