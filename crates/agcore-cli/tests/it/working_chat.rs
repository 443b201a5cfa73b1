//! Longer work in a chat: the output of a running command, todos, and commands in the background.

mod background;
mod live_output;
mod todos;

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use agcore_testkit::mock_server::{Answer, MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};

use crate::support::{Agcore, Server};

/// A reply of the model.
#[derive(Debug, Clone)]
enum Step {
    Call(&'static str, Value),
    Text(&'static str),
}

/// Starts a server that gives these replies one after the other, and then only answers. A request for a summary gets one.
fn scripted(steps: &[Step]) -> Server {
    let (steps, next) = (steps.to_vec(), AtomicUsize::new(0));
    let reply = move |request: &RecordedRequest| {
        if request.prompt().last_user().starts_with("<transcript>") {
            return Reply::text("They work.");
        }
        match steps.get(next.fetch_add(1, Ordering::SeqCst)) {
            Some(Step::Call(name, arguments)) => {
                Reply::answer(Answer::new().with_call(ToolCall::new(*name, arguments)))
            }
            Some(Step::Text(text)) => Reply::text(*text),
            None => Reply::text("Nothing is left to do."),
        }
    };
    Server::start(MockOptions::new(), reply)
}

/// Returns the messages of the newest request as JSON.
fn last_messages(server: &Server) -> String {
    server.requests().pop().unwrap().json()["messages"].to_string()
}

/// Returns the tools that a request offers.
fn offered(request: &RecordedRequest) -> String {
    request.json()["tools"].to_string()
}

fn shell(command: &str) -> Step {
    Step::Call("shell", json!({"command": command}))
}

fn in_background(command: &str) -> Step {
    Step::Call("shell", json!({"command": command, "background": true}))
}

/// Lets commands end that wait for this file.
fn create(agcore: &Agcore, name: &str) {
    std::fs::write(agcore.directory.path().join(name), "").unwrap();
}

/// Waits until a file exists.
fn wait_for(path: &Path) {
    let start = std::time::Instant::now();
    while !path.exists() {
        assert!(
            start.elapsed() < crate::support::LIMIT,
            "{} was not created",
            path.display()
        );
        std::thread::yield_now();
    }
}
