//! A plain HTTP client: a connection for each request.

use agcore_testkit::mock_server::{Api, MockServer};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub(crate) const CHAT: &str = "/v1/chat/completions";

/// A received reply.
pub(crate) struct Received {
    pub(crate) status: u16,
    head: String,
    body: String,
    /// Whether the whole body arrived.
    pub(crate) complete: bool,
}

impl Received {
    pub(crate) fn text(&self) -> &str {
        &self.body
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let values = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut named = values.filter(|(other, _)| other.eq_ignore_ascii_case(name));
        named.next().map_or("", |(_, value)| value)
    }
}

/// Posts a body to a server and reads the reply to its end.
pub(crate) async fn post(server: &MockServer, path: &str, body: &Value) -> Received {
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: mock\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let ended = socket.read_to_end(&mut bytes).await;
    let reply = String::from_utf8(bytes).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    let mut received = Received {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_owned(),
        body: body.to_owned(),
        complete: false,
    };
    received.complete = ended.is_ok() && received.header("content-length") == body.len().to_string();
    received
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
        _ => chat(stream),
    }
}
