//! The contract of a wire: pure encoding and decoding of one API. No transport, no future, no clock.
//!
//! A *wire* knows one API, a *transport* knows how bytes travel, an [`Operation`] is what is asked (chat, list models,
//! embed). [`WireProvider`](crate::wire_provider::WireProvider) puts them together.

pub mod failure;
pub mod models;
#[cfg(feature = "anthropic")]
pub mod count_tokens;
pub mod embed;
#[cfg(any(
    feature = "openai-chat",
    feature = "anthropic",
    feature = "openai-responses",
    feature = "ollama"
))]
mod lenient;
#[cfg(any(feature = "openai-chat", feature = "anthropic", feature = "openai-responses"))]
mod form;
#[cfg(any(feature = "openai-chat", feature = "anthropic", feature = "openai-responses"))]
mod text_template;
#[cfg(any(feature = "openai-chat", feature = "anthropic", feature = "openai-responses"))]
mod event_reply;
#[cfg(any(
    feature = "openai-chat",
    feature = "anthropic",
    feature = "openai-responses",
    feature = "ollama"
))]
mod extra_headers;
#[cfg(any(feature = "openai-chat", feature = "anthropic", feature = "openai-responses"))]
mod call_ids;
#[cfg(any(feature = "anthropic", feature = "openai-responses"))]
mod unique_call_ids;
#[cfg(any(feature = "openai-chat", feature = "openai-responses", feature = "ollama"))]
mod model_list;
mod schema_fault;
pub(crate) mod closed_schema;
#[cfg(any(feature = "openai-chat", feature = "anthropic", feature = "ollama"))]
mod document;
#[cfg(feature = "openai-chat")]
pub mod openai_chat;
#[cfg(feature = "anthropic")]
pub mod anthropic;
#[cfg(feature = "openai-responses")]
pub mod openai_responses;
#[cfg(feature = "ollama")]
pub mod ollama;

use agcore_chat::ChatRequest;
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

use crate::{delta::ReplyDelta, error::LlmError};

/// What is asked of a server.
pub trait Operation: Send + Sync + 'static {
    /// What goes in.
    type Request: Send + Sync;
    /// What comes out, piece by piece.
    type Item: Send + 'static;
}

/// A chat completion.
#[derive(Debug, Clone, Copy)]
pub struct Chat;

impl Operation for Chat {
    type Request = ChatRequest;
    type Item = ReplyDelta;
}

/// One API of a server, for one operation.
pub trait Wire<O: Operation>: Send + Sync + std::fmt::Debug + 'static {
    /// Writes the request. Credentials are the transport's.
    ///
    /// # Errors
    /// `InvalidRequest` when the API cannot express it; nothing is ever left out silently.
    fn encode(&self, request: &O::Request, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError>;

    /// A fresh decoder for one reply with this status and these headers, whatever the status is.
    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<O>>;
}

/// What a wire needs to know beside the request.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EncodeOptions<'a> {
    /// The model to ask when the request names none.
    pub model: &'a str,
    /// Whether the reply shall be streamed.
    pub stream: bool,
}

impl<'a> EncodeOptions<'a> {
    /// A whole reply of this model.
    pub fn new(model: &'a str) -> Self {
        Self { model, stream: false }
    }

    /// Says whether the reply shall be streamed.
    pub fn with_stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }
}

/// A request as it goes out: what stands after the base URL, headers of the API, the body.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WireRequest {
    /// The HTTP method.
    pub method: Method,
    /// Path (and query) after the base URL, with a leading slash.
    pub path: String,
    /// Headers of the API and of the request; no credentials.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl WireRequest {
    /// A POST of a JSON body.
    pub fn post(path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(
            http::header::CONTENT_TYPE,
            http::HeaderValue::from_static("application/json"),
        );
        Self {
            method: Method::POST,
            path: path.into(),
            headers,
            body: body.into(),
        }
    }

    /// A GET.
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }
}

/// Status and headers of a reply.
#[derive(Debug, Clone, Default)]
pub struct ReplyHead {
    /// HTTP status.
    pub status: StatusCode,
    /// HTTP headers.
    pub headers: HeaderMap,
}

/// Reads one reply, in whatever pieces it comes: the result is the same for any slicing. The same decoder reads streams,
/// whole bodies and error bodies; it looks at the head and at the first bytes, not at what was asked.
pub trait Decoder<O: Operation>: Send {
    /// Reads more bytes and pushes what they say. After an error nothing more is read.
    ///
    /// # Errors
    /// When the server reports one, or the bytes are not of the expected form.
    fn feed(&mut self, bytes: &[u8], items: &mut Vec<O::Item>) -> Result<(), LlmError>;

    /// Reads what is left when the connection ended, and says whether the reply was whole.
    ///
    /// # Errors
    /// `Truncated` after a clean end in the middle, `Connect` after a reset in the middle, or what the last bytes say.
    fn finish(&mut self, close: Close, items: &mut Vec<O::Item>) -> Result<(), LlmError>;

    /// Whether the reply is whole although the connection goes on: its terminal marker was seen.
    fn is_done(&self) -> bool {
        false
    }
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// In order.
    Clean,
    /// It broke.
    Reset,
}
