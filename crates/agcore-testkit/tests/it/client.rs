//! A plain HTTP client that records every read of a body and how the body ended.

use agcore_llm::wire::event_stream::{EventStreamDecoder, EventStreamError};
use agcore_testkit::mock_server::{Api, MockOptions, MockServer, RecordedRequest, Reply};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::{HeaderMap, Request};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) const CHAT: &str = "/v1/chat/completions";

/// A received reply.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// The bytes of each read of the body. Without a `content-length`, each read returns one HTTP chunk.
    pub(crate) reads: Vec<Bytes>,
    /// Whether the HTTP message ended properly.
    pub(crate) complete: bool,
}

impl Received {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.reads.concat()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.reads.concat()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns the `data:` payloads, or the lines, of a stream.
    pub(crate) fn payloads(&self) -> Vec<String> {
        let text = self.text();
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with("event:"));
        lines
            .map(|line| line.strip_prefix("data: ").unwrap_or(line).to_owned())
            .collect()
    }
}

impl Received {
    /// Returns the messages of a binary event stream: the name and the payload of each.
    pub(crate) fn messages(&self) -> Vec<(String, Value)> {
        let (mut decoder, mut messages) = (EventStreamDecoder::new(), Vec::new());
        let read = decoder.feed(&self.reads.concat(), |message| {
            let names = [":event-type", ":exception-type"].map(|name| message.header(name));
            let name = names.into_iter().flatten().collect::<String>();
            messages.push((name, serde_json::from_slice(message.payload).unwrap_or_default()));
            Ok::<_, EventStreamError>(())
        });
        read.unwrap();
        assert!(!decoder.is_within_message());
        messages
    }
}

/// Sends a request on a new connection and reads the reply to its end.
pub(crate) async fn send(server: &MockServer, request: Request<Full<Bytes>>) -> Received {
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    let driver = tokio::spawn(connection);
    let response = sender.send_request(request).await.unwrap();
    let (head, mut body) = response.into_parts();
    let mut reads = Vec::new();
    let complete = loop {
        match body.frame().await {
            Some(Ok(frame)) => reads.push(frame.into_data().unwrap()),
            Some(Err(_)) => break false,
            None => break true,
        }
    };
    driver.abort();
    Received {
        status: head.status.as_u16(),
        headers: head.headers,
        reads,
        complete,
    }
}

pub(crate) fn request(method: &str, path: &str, body: &str) -> Request<Full<Bytes>> {
    let builder = Request::builder().method(method).uri(path).header("host", "mock");
    builder.body(Full::new(Bytes::from(body.to_owned()))).unwrap()
}

pub(crate) async fn post(server: &MockServer, path: &str, body: &Value) -> Received {
    send(server, request("POST", path, &body.to_string())).await
}

pub(crate) async fn get(server: &MockServer, path: &str) -> Received {
    send(server, request("GET", path, "")).await
}

/// Starts a server that sends this reply to every request.
pub(crate) async fn serving(reply: Reply) -> MockServer {
    MockServer::start(move |_: &_| reply.clone()).await.unwrap()
}

/// Starts a server with these options that answers `ok` to every request.
pub(crate) async fn with_options(options: MockOptions) -> MockServer {
    MockServer::start_with(options, |_: &RecordedRequest| Reply::text("ok"))
        .await
        .unwrap()
}

/// Returns a minimal request of Chat Completions.
pub(crate) fn chat(stream: bool) -> Value {
    json!({ "model": "m", "messages": [{ "role": "user", "content": "Hi" }], "stream": stream })
}

/// Returns a minimal request of an API.
pub(crate) fn minimal(api: Api, stream: bool) -> Value {
    match api {
        Api::OpenAiResponses => json!({ "model": "m", "input": "Hi", "stream": stream }),
        Api::Anthropic => {
            let mut body = chat(stream);
            body["max_tokens"] = json!(100);
            body
        }
        Api::Gemini => json!({ "contents": [{ "role": "user", "parts": [{ "text": "Hi" }] }] }),
        Api::Bedrock => json!({ "messages": [{ "role": "user", "content": [{ "text": "Hi" }] }] }),
        _ => chat(stream),
    }
}

/// Returns the path of a request for an answer of this model. Those of Gemini and Bedrock contain the model and the form of the reply.
pub(crate) fn path(api: Api, model: &str, stream: bool) -> String {
    match (api, stream) {
        (Api::Gemini, true) => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
        (Api::Gemini, false) => format!("/v1beta/models/{model}:generateContent"),
        (Api::Bedrock, true) => format!("/model/{model}/converse-stream"),
        (Api::Bedrock, false) => format!("/model/{model}/converse"),
        _ => api.path("/v1"),
    }
}

/// Sends a minimal request of Chat Completions to a server with this reply.
pub(crate) async fn ask(reply: Reply, stream: bool) -> Received {
    post(&serving(reply).await, CHAT, &chat(stream)).await
}

/// Sends a minimal request of an API to a server with this reply.
pub(crate) async fn ask_api(api: Api, reply: Reply, stream: bool) -> Received {
    post(&serving(reply).await, &path(api, "m", stream), &minimal(api, stream)).await
}

/// Opens a connection and writes a minimal request of Chat Completions to it.
pub(crate) async fn raw_chat(server: &MockServer, stream: bool) -> TcpStream {
    let body = chat(stream).to_string();
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: mock\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await.unwrap();
    socket
}

/// Reads until the connection ends. Returns all bytes, and the error if there was one.
pub(crate) async fn drain(mut socket: TcpStream) -> (String, Option<std::io::ErrorKind>) {
    let mut bytes = Vec::new();
    let end = socket.read_to_end(&mut bytes).await;
    (String::from_utf8(bytes).unwrap(), end.err().map(|error| error.kind()))
}
