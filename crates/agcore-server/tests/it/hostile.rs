//! A thousand clients that send nothing, stop in the middle, or never read.

use std::{fs, sync::Arc, time::Duration};

use agcore_chat::SystemClock;
use agcore_server::Limits;
use agcore_session::InMemorySessionStore;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time,
};

use crate::support::{Running, Store, builder, input, text_of};

/// The number of connections if the system allows it: of five, two never read, and one each sends nothing, half a head and half a
/// body.
const CONNECTIONS: u64 = 1000;

/// The limit of the memory of a connection, in bytes.
const MEMORY: u64 = 256 * 1024;

/// Raises the limit of open files, and returns it with the number of connections that it allows. Both ends are in this process.
fn connections() -> (u64, u64) {
    let wanted = 2 * CONNECTIONS + 200;
    let mut limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(wanted).min(wanted);
    if limit.current.is_some_and(|current| current < most) {
        limit = Rlimit {
            current: Some(most),
            ..limit
        };
        setrlimit(Resource::Nofile, limit).unwrap();
    }
    let files = limit.current.unwrap_or(wanted);
    let allowed = (files.saturating_sub(200) / 2).min(CONNECTIONS);
    assert!(allowed >= 50, "the system allows {files} open files only");
    (files, allowed)
}

/// Returns the memory of this process, in bytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() * 1024
}

/// Opens a connection with small buffers, and sends a text.
async fn open(server: &Running, text: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(server.address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// Waits until a number of the server is this one.
async fn metric(server: &Running, name: &str, expected: u64) {
    let line = format!("{name} {expected}\n");
    while !server.get("/metrics").await.text.contains(&line) {
        tokio::task::yield_now().await;
    }
}

fn provider() -> ScriptedProvider {
    // Much more than fits into the buffers of a connection.
    let long = ("x".repeat(8 << 10) + " ").repeat(300);
    ScriptedProvider::new([ScriptStep::text(long).then_hang(), ScriptStep::text("I am here.")])
}

#[tokio::test]
async fn a_thousand_hostile_clients_disturb_no_others_and_are_ended() {
    let (files, allowed) = connections();
    if allowed < CONNECTIONS {
        println!("only {allowed} of {CONNECTIONS} connections: the system allows {files} open files");
    }
    let fifth = allowed / 5;
    let limits = Limits::new()
        .with_max_streams_per_user(2000)
        .with_gather(Duration::ZERO);
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_send_buffer_size(4096).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1024).unwrap();
    // A connection to a database would not survive the jump of the clock below.
    let store: Store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
    let server = Running::start_on(listener, builder(&provider(), &store).with_limits(limits.clone()));
    server
        .post("/api/v1/agent/runs/t", &input("t", "r1", "Tell me everything."))
        .await;
    // All of it is there before anybody reads.
    let mut reader = server.follow_open("t", "r1", None).await;
    let mut read = 0;
    while read < 300 * (8 << 10) {
        let event = reader.next().await.unwrap();
        read += event.data["delta"].as_str().map_or(0, str::len);
    }
    drop(reader);
    metric(&server, "agcore_streams_open", 0).await;

    let before = memory();
    let mut clients = Vec::new();
    let follow = "GET /api/v1/agent/runs/t/events?runId=r1 HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let half_body = "POST /api/v1/agent/run HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    for _ in 0..fifth {
        for text in [follow, follow, "", "GET /health HTTP/1.1\r\nx-", half_body] {
            clients.push(open(&server, text).await);
        }
    }
    metric(&server, "agcore_streams_open", 2 * fifth).await;
    metric(&server, "agcore_connections_open", 5 * fifth + 1).await;

    // Others are served meanwhile.
    let events = server.run(&input("other", "r2", "Are you there?")).await;
    assert_eq!(text_of(&events), "I am here.");
    let grown = memory().saturating_sub(before);
    assert!(
        grown < 5 * fifth * MEMORY,
        "{} connections need {} MiB",
        5 * fifth,
        grown >> 20
    );

    // All of them are as slow as the limits allow.
    time::pause();
    time::advance(limits.read_timeout.max(limits.write_timeout) + Duration::from_secs(1)).await;
    time::resume();
    metric(&server, "agcore_streams_open", 0).await;
    metric(&server, "agcore_connections_open", 1).await;
    let mut half_body = clients.pop().unwrap();
    let mut answer = String::new();
    half_body.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("408") && answer.contains("body_timeout"), "{answer}");
    // The run was not theirs.
    let run = &server.get("/api/v1/agent/sessions/t").await.json()["runs"][0];
    assert_eq!(run["status"], "running");
    server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    server.stop().await;
}
