//! `agcore serve`: a server that is asked, stopped and killed.

mod clients;
mod costs;
mod cuts;
mod flow_model;
mod documents;
mod flows;
mod hooks;
#[cfg(all(unix, feature = "postgres"))]
mod overlap;
mod logs;
mod settings;
mod uploads;
#[cfg(all(unix, feature = "postgres"))]
mod workers;

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use agcore_demo::Playground;
use agcore_testkit::mock_server::MockOptions;
use serde_json::{Value, json};

use crate::support::{Agcore, LIMIT, Server};

/// The id and the data of an event.
type Event = (String, Value);

/// A server in a process of its own.
pub(crate) struct Serving {
    child: Child,
    address: String,
    /// Kept open, so that the program can write to it.
    stderr: BufReader<Box<dyn Read + Send + Sync>>,
}

impl Serving {
    pub(crate) fn start(agcore: &Agcore, arguments: &[&str]) -> Self {
        let mut command = agcore.command();
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        let stderr: Box<dyn Read + Send + Sync> = Box::new(child.stderr.take().unwrap());
        let mut stderr = BufReader::new(stderr);
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert_ne!(
                stderr.read_line(&mut line).unwrap(),
                0,
                "the program ended: {:?}",
                child.wait()
            );
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.split(';').next().unwrap().to_owned();
            }
        };
        Self { child, address, stderr }
    }

    /// Writes what the server logs from here on to a file. Nothing else reads it, and a full pipe would keep the server waiting.
    fn log_to(&mut self, mut file: File) {
        let mut log = std::mem::replace(&mut self.stderr, BufReader::new(Box::new(io::empty())));
        thread::spawn(move || io::copy(&mut log, &mut file));
    }

    fn open(&self, method: &str, path: &str, headers: &str, body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{headers}",
            self.address
        );
        let head = head + &format!("content-type: application/json\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes()).unwrap();
        BufReader::new(stream)
    }

    /// Returns the whole answer.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let mut answer = String::new();
        self.open(method, path, headers, body)
            .read_to_string(&mut answer)
            .unwrap();
        answer
    }

    /// Opens the stream of a run after an event.
    fn open_events(&self, thread: &str, last: Option<&str>) -> BufReader<TcpStream> {
        let last = last.map_or_else(String::new, |id| format!("last-event-id: {id}\r\n"));
        let path = format!("/api/v1/agent/runs/{thread}/events?runId=r");
        self.open("GET", &path, &last, "")
    }

    /// Reads up to `count` events of a run after an event. The stream may break off.
    fn follow(&self, thread: &str, last: Option<&str>, count: usize) -> Vec<Event> {
        read_events(self.open_events(thread, last), count)
    }

    /// Kills the process, like `kill -9`.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads up to `count` events. The stream may break off.
fn read_events(stream: BufReader<TcpStream>, count: usize) -> Vec<Event> {
    let mut events = Vec::new();
    let mut id = String::new();
    for line in stream.lines() {
        let Ok(line) = line else { break };
        if let Some(found) = line.strip_prefix("id: ") {
            id = found.to_owned();
        }
        // Without its end, the line is a part of one.
        if let Some(data) = line.strip_prefix("data: ")
            && let Ok(data) = serde_json::from_str(data)
        {
            events.push((id.clone(), data));
        }
        if events.len() == count {
            break;
        }
    }
    events
}

pub(crate) fn input(thread: &str, text: &str) -> String {
    let message = json!({"id": "m", "role": "user", "content": text});
    json!({"threadId": thread, "runId": "r", "protocolVersion": "1.0", "messages": [message]}).to_string()
}

fn is_end(events: &[Event]) -> bool {
    let last = events.last().map(|(_, event)| event["type"].as_str().unwrap());
    matches!(last, Some("RUN_FINISHED" | "RUN_ERROR"))
}

#[test]
fn serves_with_nothing_but_a_model() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    agcore.run(["serve", "--check"]).assert_success();
    let serving = Serving::start(&agcore, &[]);
    assert!(serving.ask("GET", "/health", "", "").contains(r#"{"status":"ok"}"#));
    assert!(server.requests().is_empty(), "health asks no vendor");
    let answer = serving.ask("POST", "/api/v1/agent/run", "", &input("t", "good day"));
    assert!(
        answer.contains("good day") && answer.contains("RUN_FINISHED"),
        "{answer}"
    );
    // The session is one of the program.
    serving.kill();
    let list = agcore.run(["sessions", "list"]);
    assert!(list.assert_success().contains("good day"), "{}", list.stdout);
}

#[test]
fn a_killed_server_loses_and_repeats_nothing() {
    let model = Server::start(
        MockOptions::new(),
        Playground::new().with_pace(Duration::from_millis(10)),
    );
    let agcore = Agcore::talking_to(&model).at_home();
    let mut kills = 0;
    // The process dies after each number of events that a client has seen.
    for after in 1..=8 {
        let thread = format!("t{after}");
        let mut serving = Serving::start(&agcore, &[]);
        let text = "count the words of this message, one after the other";
        let started = serving.ask(
            "POST",
            &format!("/api/v1/agent/runs/{thread}"),
            "",
            &input(&thread, text),
        );
        assert!(started.contains("202 Accepted"), "{started}");
        let mut seen = serving.follow(&thread, None, after);
        for _ in 0..3 {
            if is_end(&seen) {
                break;
            }
            serving.kill();
            kills += 1;
            serving = Serving::start(&agcore, &[]);
            let last = seen.last().map(|(id, _)| id.clone());
            seen.extend(serving.follow(&thread, last.as_deref(), after));
        }
        while !is_end(&seen) {
            let last = seen.last().map(|(id, _)| id.clone());
            let more = serving.follow(&thread, last.as_deref(), usize::MAX);
            assert!(!more.is_empty(), "{seen:?}");
            seen.extend(more);
        }
        let all = serving.follow(&thread, None, usize::MAX);
        assert_eq!(seen, all, "lost, repeated or out of order");
        assert_eq!(all.last().unwrap().1["type"], "RUN_FINISHED");
        let history = serving.ask("GET", &format!("/api/v1/agent/history?threadId={thread}"), "", "");
        assert_eq!(history.matches(r#""role":"user""#).count(), 1, "{history}");
    }
    assert!(kills >= 8, "{kills}");
}

#[test]
fn clients_need_tokens_if_they_are_required() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    agcore
        .run(["serve", "--listen", "0.0.0.0:0"])
        .assert_failed(2, &["--require-token"]);
    let created = agcore.run(["serve", "tokens", "create", "--user", "ann", "--label", "laptop"]);
    let token = created.assert_success().trim().to_owned();
    let list = agcore.run(["serve", "tokens", "list"]);
    let id = list.assert_success().split_whitespace().next().unwrap().to_owned();
    assert!(
        list.stdout.contains("local/ann  laptop") && !list.stdout.contains(&token),
        "{}",
        list.stdout
    );

    let serving = Serving::start(&agcore, &["--require-token"]);
    let header = format!("authorization: Bearer {token}\r\n");
    let ask = |headers: &str| serving.ask("GET", "/api/v1/agent/sessions", headers, "");
    assert!(ask(&header).starts_with("HTTP/1.1 200"));
    assert!(ask("").starts_with("HTTP/1.1 401"));
    agcore.run(["serve", "tokens", "revoke", &id]).assert_success();
    assert!(ask(&header).starts_with("HTTP/1.1 401"));
    agcore
        .run(["serve", "tokens", "revoke", &id])
        .assert_failed(2, &["no token"]);
}

#[cfg(unix)]
#[test]
fn sigterm_stops_the_server() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let mut serving = Serving::start(&agcore, &[]);
    let id = rustix::process::Pid::from_child(&serving.child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    serving.child.wait().unwrap();
    assert!(TcpStream::connect(&serving.address).is_err());
}
