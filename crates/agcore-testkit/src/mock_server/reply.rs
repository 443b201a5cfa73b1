//! [`Reply`]: what the server sends back, and how it is transmitted.

mod answer;
mod api_error;
mod chunking;
mod error_shape;
mod fault;
mod gate;
mod token_usage;
mod tool_call;

pub(crate) use {answer::Block, api_error::ErrorParts};
pub use {
    answer::{Answer, Finish},
    api_error::ApiError,
    chunking::Chunking,
    error_shape::ErrorShape,
    fault::{Ending, Fault, Hold, LineEnds, Point},
    gate::Gate,
    token_usage::{TokenUsage, estimate_tokens},
    tool_call::ToolCall,
};

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

/// A reply of the server: an answer, an error, or raw bytes, together with its pace and its faults.
///
/// An answer is rendered for the API that the request uses, as a single body or as a stream, depending on what the
/// request asks for.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_testkit::mock_server::{ApiError, MockServer, Reply, Script, ToolCall};
/// use serde_json::json;
/// # use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
/// # async fn chat(server: &MockServer) -> String {
/// #     let body = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
/// #     let mut client = TcpStream::connect(server.address()).await.unwrap();
/// #     let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ";
/// #     client.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
/// #     let mut reply = String::new();
/// #     client.read_to_string(&mut reply).await.unwrap();
/// #     reply
/// # }
///
/// let server = MockServer::start(Script::new([
///     Reply::tool_calls([ToolCall::new("weather", &json!({ "city": "Lisbon" }))]),
///     Reply::error(ApiError::new(503).with_message("Loading the model")),
///     Reply::raw(200, [("content-type", "text/html")], "<html>"),
/// ]))
/// .await
/// .unwrap();
///
/// // `chat` is the client under test.
/// assert!(chat(&server).await.contains(r#""finish_reason":"tool_calls""#));
/// assert!(chat(&server).await.contains(r#""message":"Loading the model""#));
/// assert!(chat(&server).await.ends_with("<html>"));
/// # });
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Reply {
    pub(crate) form: Form,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) chunking: Chunking,
    pub(crate) pace: Duration,
    pub(crate) faults: Vec<Fault>,
}

#[derive(Clone, Debug)]
pub(crate) enum Form {
    Answer(Answer),
    Error(ApiError),
    Raw(RawReply),
}

/// A reply that is sent as is, without going through a wire.
#[derive(Clone, Debug)]
pub(crate) struct RawReply {
    pub(crate) status: u16,
    /// The pieces of the body; each counts as one event.
    pub(crate) frames: Vec<Bytes>,
    /// Whether the body is sent in chunks, without a `content-length`.
    pub(crate) streamed: bool,
}

impl Reply {
    /// Creates an answer that consists of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::answer(Answer::new().with_text(text))
    }

    /// Creates an answer that consists of these tool calls, without any text.
    pub fn tool_calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::answer(calls.into_iter().fold(Answer::new(), Answer::with_call))
    }

    /// Creates a reply from an [`Answer`], which can combine text, reasoning, tool calls and token usage.
    pub fn answer(answer: Answer) -> Self {
        Self::new(Form::Answer(answer))
    }

    /// Creates an error reply, rendered in the error format of the request's API.
    pub fn error(error: ApiError) -> Self {
        Self::new(Form::Error(error))
    }

    /// Creates a reply from any status, headers and body. The body is sent in one piece with a `content-length`; a
    /// `content-type` is sent only if `headers` contains one.
    pub fn raw<N: Into<String>, V: Into<String>>(
        status: u16,
        headers: impl IntoIterator<Item = (N, V)>,
        body: impl Into<Bytes>,
    ) -> Self {
        let raw = RawReply {
            status,
            frames: vec![body.into()],
            streamed: false,
        };
        let headers = headers
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Self {
            headers,
            ..Self::new(Form::Raw(raw))
        }
    }

    /// Creates an event stream with status 200 from these pieces. Each piece is sent verbatim: the caller is
    /// responsible for the framing.
    pub fn raw_stream<B: Into<Bytes>>(pieces: impl IntoIterator<Item = B>) -> Self {
        let raw = RawReply {
            status: 200,
            frames: pieces.into_iter().map(Into::into).collect(),
            streamed: true,
        };
        Self::new(Form::Raw(raw)).with_header("content-type", "text/event-stream")
    }

    /// Creates a reply with a JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::raw(status, [("content-type", "application/json")], body.to_string())
    }

    /// Creates a reply with an HTML page, like those sent by proxies or by a server at a wrong base URL.
    pub fn html(status: u16, page: impl Into<Bytes>) -> Self {
        Self::raw(status, [("content-type", "text/html; charset=utf-8")], page)
    }

    /// Creates a redirect to `location`.
    pub fn redirect(status: u16, location: impl Into<String>) -> Self {
        Self::raw(status, [("location", location)], "")
    }

    /// Sets a header, replacing a header of the same name that the server would send by default.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets how texts are split into the deltas of a stream.
    pub fn with_chunking(mut self, chunking: Chunking) -> Self {
        self.chunking = chunking;
        self
    }

    /// Sets the time to wait between two events of a stream, measured on tokio's clock.
    pub fn with_pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Returns the time to wait between two events of a stream.
    pub fn pace(&self) -> Duration {
        self.pace
    }

    /// Adds a fault. Faults apply in the order in which they were added.
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    fn new(form: Form) -> Self {
        Self {
            form,
            headers: Vec::new(),
            chunking: Chunking::default(),
            pace: Duration::ZERO,
            faults: Vec::new(),
        }
    }
}
