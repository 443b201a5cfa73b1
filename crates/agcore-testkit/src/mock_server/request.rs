//! A request as it came in.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use hyper::http::request::Parts;
use serde_json::Value;

use super::api::{Api, Operation, route};
use super::prompt::Prompt;
use super::wire::wire;

/// Headers whose values stay out of `Debug`.
const SECRET: [&str; 5] = ["authorization", "proxy-authorization", "x-api-key", "api-key", "cookie"];

/// One request that the server received, and what became of it. Cheap to clone.
#[derive(Clone)]
pub struct RecordedRequest {
    received: Arc<Received>,
    outcome: Outcome,
}

struct Received {
    number: usize,
    method: String,
    path: String,
    query: Option<String>,
    headers: Vec<(String, String)>,
    body: Bytes,
    json: Value,
    api: Api,
    operation: Operation,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Its reply is on the way.
    Open,
    /// The whole reply was handed to the socket.
    Completed,
    /// A fault ended the reply before its time.
    Faulted,
    /// The client left before the reply was over.
    Disconnected,
    /// The server closed before the reply was over.
    ServerClosed,
}

impl RecordedRequest {
    pub(crate) fn new(number: usize, head: &Parts, body: Bytes, prefixes: &[String]) -> Self {
        let headers: Vec<(String, String)> = head
            .headers
            .iter()
            .map(|(name, value)| {
                (
                    name.as_str().to_owned(),
                    String::from_utf8_lossy(value.as_bytes()).into_owned(),
                )
            })
            .collect();
        let anthropic = headers.iter().any(|(name, _)| name == "anthropic-version");
        let (api, operation) = route(head.method.as_str(), head.uri.path(), prefixes, anthropic);
        let received = Received {
            number,
            method: head.method.as_str().to_owned(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().map(str::to_owned),
            headers,
            json: serde_json::from_slice(&body).unwrap_or_default(),
            body,
            api,
            operation,
        };
        Self {
            received: Arc::new(received),
            outcome: Outcome::Open,
        }
    }

    pub(crate) fn settle(&mut self, outcome: Outcome) {
        self.outcome = outcome;
    }

    /// Its place in the order of arrival, from 0.
    pub fn number(&self) -> usize {
        self.received.number
    }

    /// The HTTP method.
    pub fn method(&self) -> &str {
        &self.received.method
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        &self.received.path
    }

    /// The query, without the question mark.
    pub fn query(&self) -> Option<&str> {
        self.received.query.as_deref()
    }

    /// All headers in order, names in lower case.
    pub fn headers(&self) -> &[(String, String)] {
        &self.received.headers
    }

    /// The first header of that name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers()
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body's bytes.
    pub fn body(&self) -> &Bytes {
        &self.received.body
    }

    /// The body as JSON; `Null` when it is none.
    pub fn json(&self) -> &Value {
        &self.received.json
    }

    /// The API it speaks, by its path.
    pub fn api(&self) -> Api {
        self.received.api
    }

    /// What it asks for, by its method and path.
    pub fn operation(&self) -> Operation {
        self.received.operation
    }

    /// What it says to the model, in the same terms for every API.
    pub fn prompt(&self) -> Prompt {
        wire(self.api()).read(self.json())
    }

    /// What had become of it when this snapshot was taken.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }
}

impl fmt::Debug for RecordedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(name, value): &(String, String)| {
            let value: Cow<'_, str> = if SECRET.contains(&name.as_str()) {
                "***".into()
            } else {
                value.clone().into()
            };
            format!("{name}: {value}")
        };
        f.debug_struct("RecordedRequest")
            .field("number", &self.number())
            .field("method", &self.method())
            .field("path", &self.path())
            .field("query", &self.query())
            .field("headers", &self.headers().iter().map(shown).collect::<Vec<_>>())
            .field("body", &String::from_utf8_lossy(self.body()))
            .field("outcome", &self.outcome)
            .finish()
    }
}
