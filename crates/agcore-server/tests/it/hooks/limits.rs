//! Limits of deliveries.

use std::time::Duration;

use agcore_server::{BusyPolicy, Limits};
use agcore_session::RunFilter;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{ended, github, ids, push, request};
use crate::support::{Running, builder, store, texts};

#[tokio::test]
async fn large_deliveries_are_refused_before_they_are_read() {
    let limits = Limits::new().with_max_delivery_bytes(100);
    let server = builder(&texts(["1"]), &store())
        .with_limits(limits)
        .with_hook(github("issues"));
    let server = Running::start(server).await;
    let large = server.request(request("issues", &[], "a".repeat(101))).await;
    large.assert_problem(413, "body_too_large");
    // Without a declared length, reading ends at the limit.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /hooks/issues HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
                transfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("40\r\n{}\r\n", "a".repeat(64));
    stream.write_all(chunk.repeat(2).as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let body = json!({"text": "a".repeat(80)});
    assert_eq!(push(&server, "issues", "1", &body).await.status.as_u16(), 202);
    server.kill().await;
}

#[tokio::test]
async fn strangers_take_only_so_many_places() {
    let limits = Limits::new().with_max_deliveries(1);
    let server = builder(&texts(["1"]), &store())
        .with_limits(limits)
        .with_hook(github("issues"));
    let server = Running::start(server).await;
    let mut slow = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /hooks/issues HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\
                expect: 100-continue\r\n\r\n";
    slow.write_all(head.as_bytes()).await.unwrap();
    // The server asks for the body as soon as it reads it.
    let mut asked = [0; 12];
    slow.read_exact(&mut asked).await.unwrap();
    assert_eq!(&asked, b"HTTP/1.1 100");
    push(&server, "issues", "1", &json!({}))
        .await
        .assert_problem(429, "too_many_deliveries");
    drop(slow);
    loop {
        let answer = push(&server, "issues", "1", &json!({})).await;
        if answer.status.as_u16() == 202 {
            break;
        }
        answer.assert_problem(429, "too_many_deliveries");
        tokio::task::yield_now().await;
    }
    server.kill().await;
}

#[tokio::test]
async fn runs_of_hooks_count_for_the_limits_of_their_owner() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::text("a").then_hang(), ScriptStep::text("Second.")]);
    let limits = Limits::new().with_max_runs_per_user(1);
    let server = builder(&provider, &store)
        .with_limits(limits)
        .with_hook(github("issues"));
    let server = Running::start(server).await;
    let first = push(&server, "issues", "1", &json!({})).await;
    let (thread, run) = ids(&first);
    server
        .follow_open(&thread, &run, None)
        .await
        .until("TEXT_MESSAGE_CONTENT")
        .await;
    push(&server, "issues", "2", &json!({}))
        .await
        .assert_problem(429, "too_many_runs");
    // What was accepted before is found.
    assert_eq!(
        ids(&push(&server, "issues", "1", &json!({})).await),
        (thread.clone(), run.clone())
    );
    server
        .post(&format!("/api/v1/agent/runs/{thread}/{run}/cancel"), &json!({}))
        .await;
    server.follow(&thread, &run, None).await;
    // The sender repeats it later.
    let second = push(&server, "issues", "2", &json!({})).await;
    assert_eq!(ended(&server, &second).await, "Second.");
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_stops_lets_senders_repeat() {
    let limits = Limits::new().with_lame_duck(Duration::from_secs(60));
    let server = builder(&texts([]), &store())
        .with_limits(limits)
        .with_hook(github("issues"));
    let server = Running::start(server).await;
    assert_eq!(server.get("/ready").await.status.as_u16(), 200);
    server.stop.cancel();
    while server.get("/ready").await.status.as_u16() == 200 {
        tokio::task::yield_now().await;
    }
    push(&server, "issues", "1", &json!({}))
        .await
        .assert_problem(503, "shutting_down");
    server.kill().await;
}

#[tokio::test]
async fn deliveries_to_a_busy_thread_wait_or_are_refused() {
    for busy in [BusyPolicy::Queue, BusyPolicy::Refuse, BusyPolicy::Interrupt] {
        let store = store();
        let provider = ScriptedProvider::new([ScriptStep::text("a").then_hang(), ScriptStep::text("Second.")]);
        let hook = github("issues").with_thread("one").unwrap().with_busy(busy);
        let server = Running::start(builder(&provider, &store).with_hook(hook)).await;
        let (thread, run) = ids(&push(&server, "issues", "1", &json!({})).await);
        server
            .follow_open(&thread, &run, None)
            .await
            .until("TEXT_MESSAGE_CONTENT")
            .await;
        let second = push(&server, "issues", "2", &json!({})).await;
        match busy {
            BusyPolicy::Refuse => {
                second.assert_problem(409, "session_busy");
                server.kill().await;
                continue;
            }
            BusyPolicy::Queue => {
                let cancel = format!("/api/v1/agent/runs/{thread}/{run}/cancel");
                server.post(&cancel, &json!({})).await;
            }
            _ => {}
        }
        assert_eq!(ended(&server, &second).await, "Second.", "{busy:?}");
        let runs = store.runs("local", &thread, &RunFilter::new()).await.unwrap();
        assert_eq!(runs.len(), 2);
        server.stop().await;
    }
}
