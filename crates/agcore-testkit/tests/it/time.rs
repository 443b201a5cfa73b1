//! Stalls, pauses and client disconnects, without a clock or on tokio's clock.

use std::time::Duration;

use agcore_testkit::mock_server::{Api, DeafServer, Fault, Gate, Hold, MockServer, Outcome, Point, Reply};
use tokio::io::AsyncReadExt;
use tokio::time::Instant;

use super::client::{CHAT, ask_api, chat, post, raw_chat, serving};

fn stalled(at: Point, hold: impl Into<Hold>) -> Reply {
    Reply::text("one two").with_fault(Fault::stall(at, hold))
}

#[tokio::test]
async fn a_gate_stalls_a_reply_at_each_point() {
    for stream in [true, false] {
        for at in [
            Point::BeforeHeaders,
            Point::BeforeBody,
            Point::AfterBytes(9),
            Point::BeforeEnd,
        ] {
            let gate = Gate::new();
            let server = serving(stalled(at, &gate)).await;
            let body = chat(stream);
            let (received, ()) = tokio::join!(post(&server, CHAT, &body), async {
                gate.reached().await;
                assert_eq!(server.requests()[0].outcome(), Outcome::Open, "{at:?}");
                gate.release();
            });
            assert!(received.complete, "{at:?}");
            assert_eq!(server.wait_for_outcome(0).await, Outcome::Completed);
        }
    }
}

#[tokio::test]
async fn bytes_before_a_gate_are_written_to_the_socket() {
    let gate = Gate::new();
    let server = serving(stalled(Point::AfterBytes(9), &gate)).await;
    let mut socket = raw_chat(&server, true).await;
    gate.reached().await;
    let mut seen = String::new();
    while !seen.ends_with("data: {\"i\r\n") {
        seen.push(char::from(socket.read_u8().await.unwrap()));
    }
    assert!(seen.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(socket.try_read(&mut [0; 1]).is_err(), "nothing else has arrived");
}

#[tokio::test]
async fn records_a_disconnect() {
    for at in [
        Point::BeforeHeaders,
        Point::BeforeBody,
        Point::AfterEvents(1),
        Point::BeforeEnd,
    ] {
        for stream in [true, false] {
            let gate = Gate::new();
            let server = serving(stalled(at, &gate)).await;
            let socket = raw_chat(&server, stream).await;
            gate.reached().await;
            drop(socket);
            assert_eq!(
                server.wait_for_outcome(0).await,
                Outcome::Disconnected,
                "{at:?} {stream}"
            );
        }
    }
}

#[tokio::test]
async fn a_disconnect_after_the_end_does_not_change_the_outcome() {
    let server = serving(Reply::text("one two")).await;
    for (number, stream) in [true, false].into_iter().enumerate() {
        post(&server, CHAT, &chat(stream)).await;
        assert_eq!(server.wait_for_outcome(number).await, Outcome::Completed);
    }
}

#[tokio::test]
async fn shutdown_ends_stalls() {
    let gate = Gate::new();
    let server = serving(stalled(Point::AfterEvents(1), &gate)).await;
    let mut socket = raw_chat(&server, true).await;
    gate.reached().await;
    let requests = server.shutdown().await;
    assert_eq!(requests[0].outcome(), Outcome::ServerClosed);
    let mut seen = String::new();
    socket.read_to_string(&mut seen).await.unwrap();
    assert!(
        seen.contains("\"role\":\"assistant\"") && !seen.contains("one"),
        "{seen}"
    );
}

#[tokio::test]
async fn dropping_the_server_closes_it() {
    let gate = Gate::new();
    let server = serving(stalled(Point::BeforeHeaders, &gate)).await;
    let mut socket = raw_chat(&server, true).await;
    gate.reached().await;
    let address = server.address();
    drop(server);
    assert_eq!(socket.read(&mut [0; 1]).await.unwrap_or(0), 0);
    // The listener closes with its task, which ends when the runtime polls it next.
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn pauses_between_events_use_the_tokio_clock() {
    let hour = Duration::from_secs(3600);
    for api in Api::ALL {
        let start = Instant::now();
        let received = ask_api(api, Reply::text("one two three").with_pace(hour), true).await;
        let pauses = u32::try_from(received.reads.len() - 1).unwrap();
        let elapsed = start.elapsed();
        assert!(
            elapsed >= hour * pauses && elapsed < hour * pauses + Duration::from_secs(1),
            "{api:?} {elapsed:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_stall_ends_after_its_duration() {
    let start = Instant::now();
    let server = serving(stalled(Point::BeforeHeaders, Duration::from_secs(90))).await;
    assert!(post(&server, CHAT, &chat(false)).await.complete);
    assert!(start.elapsed() >= Duration::from_secs(90));
}

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_deaf_server_accepts_no_connections() {
    let server = DeafServer::start().await.unwrap();
    for _ in 0..3 {
        let connecting = tokio::net::TcpStream::connect(server.address());
        let connected = tokio::time::timeout(Duration::from_secs(10), connecting).await;
        assert!(connected.is_err());
    }
}

#[tokio::test]
async fn a_stalled_reply_does_not_block_others() {
    let gate = Gate::new();
    let stalled = stalled(Point::BeforeHeaders, &gate);
    let server = MockServer::start(move |request: &agcore_testkit::mock_server::RecordedRequest| {
        if request.number() == 0 {
            stalled.clone()
        } else {
            Reply::text("free")
        }
    })
    .await
    .unwrap();
    let body = chat(false);
    let (first, ()) = tokio::join!(post(&server, CHAT, &body), async {
        gate.reached().await;
        assert!(post(&server, CHAT, &body).await.text().contains("free"));
        gate.release();
    });
    assert!(first.text().contains("one two"));
    assert_eq!(gate.arrivals(), 1);
}
