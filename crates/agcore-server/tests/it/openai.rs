//! The APIs of OpenAI.

mod approvals;
mod bad_input;
mod chat;
mod responses;
mod tools;
mod wires;

use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Running};

/// Returns a request with one message of the user.
fn asking(text: &str) -> Value {
    json!({"model": "ada", "messages": [{"role": "user", "content": text}]})
}

/// Returns a request with a member more.
fn with(mut body: Value, name: &str, value: impl Into<Value>) -> Value {
    body[name] = value.into();
    body
}

async fn complete(server: &Running, body: &Value) -> Answer {
    server.post("/v1/chat/completions", body).await
}

async fn respond(server: &Running, body: &Value) -> Answer {
    server.post("/v1/responses", body).await
}

/// Posts with the token of a user.
async fn as_user(server: &Running, user: &str, path: &str, body: &Value) -> Answer {
    let headers = [("authorization", user)];
    server.with(Method::POST, path, &headers, Some(body)).await
}

/// Returns the answer of a completion that has succeeded.
#[track_caller]
fn choice(answer: &Answer) -> Value {
    assert_eq!(answer.status.as_u16(), 200, "{}", answer.text);
    let body = answer.json();
    assert_eq!(body["object"], "chat.completion", "{}", answer.text);
    body["choices"][0].clone()
}

#[track_caller]
fn content(answer: &Answer) -> String {
    choice(answer)["message"]["content"]
        .as_str()
        .unwrap_or_else(|| panic!("{}", answer.text))
        .to_owned()
}

/// Returns the data of a stream, which ends as these APIs demand.
#[track_caller]
fn chunks(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.headers["content-type"], "text/event-stream", "{}", answer.text);
    let data = answer.text.split("\n\n").filter_map(|frame| {
        let line = frame.lines().find_map(|line| line.strip_prefix("data: "))?;
        (line != "[DONE]").then(|| serde_json::from_str(line).unwrap())
    });
    data.collect()
}

/// Returns the text of chunks.
fn text(chunks: &[Value], member: &str) -> String {
    let deltas = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"][member].as_str());
    deltas.collect()
}
