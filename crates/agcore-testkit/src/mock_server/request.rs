//! [`RecordedRequest`]: a request that the server received.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use hyper::http::request::Parts;
use serde_json::Value;

use crate::mock_server::{
    reply::{ApiError, Reply},
    wire::{Api, BedrockCall, GeminiCall, KindRequest, Operation, Prompt, generate, operation_of, wire},
};

/// Headers whose values are redacted in the `Debug` output.
const SECRET: [&str; 7] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "x-amz-security-token",
    "cookie",
];

/// A request that the server received, together with its outcome. Cheap to clone.
///
/// Its `Debug` output redacts headers that carry credentials.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_testkit::mock_server::{Api, MockServer, Outcome, Reply, Script};
/// # use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
/// # async fn chat(server: &MockServer) {
/// #     let body = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
/// #     let mut client = TcpStream::connect(server.address()).await.unwrap();
/// #     let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ";
/// #     client.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
/// #     client.read_to_end(&mut Vec::new()).await.unwrap();
/// # }
///
/// let server = MockServer::start(Script::new([Reply::text("Hello")])).await.unwrap();
/// chat(&server).await; // the client under test
///
/// let request = &server.requests()[0];
/// assert_eq!((request.api(), request.path()), (Api::OpenAiChat, "/v1/chat/completions"));
/// assert_eq!(request.json()["messages"][0]["content"], "Hi");
/// assert_eq!(request.prompt().last_user(), "Hi");
/// assert_eq!(request.outcome(), Outcome::Completed);
/// # });
/// ```
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

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The reply is in progress.
    Open,
    /// The entire reply was passed to the socket.
    Completed,
    /// A fault ended the reply prematurely.
    Faulted,
    /// The client disconnected before the reply was complete.
    Disconnected,
    /// The server shut down before the reply was complete.
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
        let has_anthropic_version = headers.iter().any(|(name, _)| name == "anthropic-version");
        let (api, operation) = operation_of(head.method.as_str(), head.uri.path(), prefixes, has_anthropic_version);
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

    pub(crate) fn set_outcome(&mut self, outcome: Outcome) {
        self.outcome = outcome;
    }

    /// Returns the position of the request in order of arrival, starting at 0.
    pub fn number(&self) -> usize {
        self.received.number
    }

    /// Returns the HTTP method.
    pub fn method(&self) -> &str {
        &self.received.method
    }

    /// Returns the path, without the query.
    pub fn path(&self) -> &str {
        &self.received.path
    }

    /// Returns the query, without the question mark.
    pub fn query(&self) -> Option<&str> {
        self.received.query.as_deref()
    }

    /// Returns all headers in order, with lowercase names.
    pub fn headers(&self) -> &[(String, String)] {
        &self.received.headers
    }

    /// Returns the value of the first header with this lowercase name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers()
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the bytes of the body.
    pub fn body(&self) -> &Bytes {
        &self.received.body
    }

    /// Returns the body as JSON, or `Null` if it is not valid JSON.
    pub fn json(&self) -> &Value {
        &self.received.json
    }

    /// Returns the API of the request, determined by its path.
    pub fn api(&self) -> Api {
        self.received.api
    }

    /// Returns the operation that the request asks for, determined by its method and path.
    pub fn operation(&self) -> Operation {
        self.received.operation
    }

    /// Returns the content of the request, independent of its API.
    pub fn prompt(&self) -> Prompt {
        let mut prompt = wire(self.api()).read(self.json());
        if let Some(call) = self.gemini_call() {
            call.model.clone_into(&mut prompt.model);
            prompt.stream = call.is_streamed();
        }
        if let Some(call) = self.bedrock_call() {
            prompt.stream = call.is_streamed();
            prompt.model = call.model;
        }
        prompt
    }

    /// Returns the model that the request names: in the path or in the body.
    pub(crate) fn model(&self) -> Cow<'_, str> {
        let in_body = || self.json()["model"].as_str().unwrap_or_default();
        match self.bedrock_call() {
            Some(call) => call.model.into(),
            None => self.gemini_call().map_or_else(in_body, |call| call.model).into(),
        }
    }

    fn bedrock_call(&self) -> Option<BedrockCall<'_>> {
        BedrockCall::of(self.path()).filter(|_| self.api() == Api::Bedrock)
    }

    fn gemini_call(&self) -> Option<GeminiCall<'_>> {
        GeminiCall::of(self.path()).filter(|_| self.api() == Api::Gemini)
    }

    /// Returns the reply that the server generates if the request is for a model that does not chat, or an error. A custom
    /// route can add faults to it.
    ///
    /// ```
    /// use agcore_testkit::mock_server::{Ending, Fault, MockOptions, Point, RecordedRequest};
    ///
    /// let cut = |request: &RecordedRequest| {
    ///     request.generated_reply().with_fault(Fault::Cut { at: Point::AfterBytes(20), ending: Ending::Reset })
    /// };
    /// let options = MockOptions::new().with_route("POST", "/v1/rerank", cut);
    /// # let _ = options;
    /// ```
    pub fn generated_reply(&self) -> Reply {
        self.generate().unwrap_or_else(Reply::error)
    }

    /// Computes the reply to a request for a model that does not chat.
    pub(crate) fn generate(&self) -> Result<Reply, ApiError> {
        generate(&KindRequest {
            operation: self.operation(),
            path: self.path(),
            content_type: self.header("content-type").unwrap_or_default(),
            is_streamed: self.header("x-dashscope-sse") == Some("enable"),
            json: self.json(),
            body: self.body(),
        })
    }

    /// Returns the outcome at the time this snapshot was taken.
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
