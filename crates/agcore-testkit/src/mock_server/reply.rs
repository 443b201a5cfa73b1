//! What the server sends back, and how it gets there.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use super::answer::Answer;
use super::api_error::ApiError;
use super::call::ToolCall;
use super::chunking::Chunking;
use super::fault::Fault;

/// A reply: an answer, an error, or raw bytes; together with its pace and its faults.
///
/// An answer is rendered for the API of the request, as one body or as a stream, as the request wants it.
///
/// ```
/// use agcore_testkit::mock_server::{ApiError, Reply, ToolCall};
/// use serde_json::json;
///
/// let text = Reply::text("Hello.");
/// let calls = Reply::tool_calls([ToolCall::new("weather", &json!({ "city": "Lisbon" }))]);
/// let error = Reply::error(ApiError::new(429).with_retry_after("2"));
/// let bytes = Reply::raw(200, [("content-type", "text/html")], "<html>");
/// # let _ = (text, calls, error, bytes);
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
    Raw(Raw),
}

/// A reply that no wire touches.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub(crate) status: u16,
    /// The pieces of the body; each counts as an event.
    pub(crate) frames: Vec<Bytes>,
    /// Whether the length stays untold.
    pub(crate) streamed: bool,
}

impl Reply {
    /// The model says this.
    pub fn text(text: impl Into<String>) -> Self {
        Self::answer(Answer::new().with_text(text))
    }

    /// The model makes these calls and says nothing.
    pub fn tool_calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::answer(calls.into_iter().fold(Answer::new(), Answer::with_call))
    }

    /// The model answers with all that an [`Answer`] can hold.
    pub fn answer(answer: Answer) -> Self {
        Self::new(Form::Answer(answer))
    }

    /// The server refuses.
    pub fn error(error: ApiError) -> Self {
        Self::new(Form::Error(error))
    }

    /// Any status, headers and body, the body in one piece with its length told. Without a `content-type` among the
    /// headers there is none.
    pub fn raw<N: Into<String>, V: Into<String>>(
        status: u16,
        headers: impl IntoIterator<Item = (N, V)>,
        body: impl Into<Bytes>,
    ) -> Self {
        let raw = Raw {
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

    /// An event stream under status 200 of these pieces, each sent as it stands: framing is the caller's.
    pub fn raw_stream<B: Into<Bytes>>(pieces: impl IntoIterator<Item = B>) -> Self {
        let raw = Raw {
            status: 200,
            frames: pieces.into_iter().map(Into::into).collect(),
            streamed: true,
        };
        Self::new(Form::Raw(raw)).with_header("content-type", "text/event-stream")
    }

    /// A JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::raw(status, [("content-type", "application/json")], body.to_string())
    }

    /// A page of HTML, as a proxy or a wrong address sends it.
    pub fn html(status: u16, page: impl Into<Bytes>) -> Self {
        Self::raw(status, [("content-type", "text/html; charset=utf-8")], page)
    }

    /// A redirect.
    pub fn redirect(status: u16, location: impl Into<String>) -> Self {
        Self::raw(status, [("location", location)], "")
    }

    /// Adds a header, in the place of one of the same name that the server would send.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Cuts texts into deltas by this rule.
    pub fn with_chunking(mut self, chunking: Chunking) -> Self {
        self.chunking = chunking;
        self
    }

    /// Waits so long (on tokio's clock) between two events of a stream.
    pub fn with_pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Adds a fault. Faults work in the order in which they were added.
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
