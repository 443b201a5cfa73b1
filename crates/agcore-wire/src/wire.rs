//! [`Wire`]: the contract of encoders and decoders. Implementations are pure: no transport, no futures, no clock.
//!
//! A *wire* implements one API, a *transport* moves bytes, and an [`Operation`] is a kind of request (a chat completion, a
//! list of models, embeddings). `agcore_llm::WireProvider` combines them.

mod features;

use agcore_chat::ChatRequest;
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

pub use self::features::missing_feature;
use crate::{delta::ReplyDelta, error::LlmError};

/// A kind of request, such as a chat completion.
pub trait Operation: Send + Sync + 'static {
    /// The type of requests.
    type Request: Send + Sync;
    /// The type of the items in a reply.
    type Item: Send + 'static;
}

/// The operation that requests a chat completion.
#[derive(Debug, Clone, Copy)]
pub struct Chat;

impl Operation for Chat {
    type Request = ChatRequest;
    type Item = ReplyDelta;
}

/// An encoder and decoder of one API, for one operation.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, dialect, openai_chat::OpenAiChat};
///
/// // The same request for two vendors.
/// let request = ChatRequest::new([Message::user("Hi")]).with_max_tokens(100);
/// let body = |wire: &dyn Wire<Chat>| {
///     let encoded = wire.encode(&request, &EncodeOptions::new("some-model"))?;
///     Ok::<_, agcore_wire::LlmError>(String::from_utf8_lossy(&encoded.body).into_owned())
/// };
/// assert!(body(&OpenAiChat::new(dialect::openai()))?.contains(r#""max_completion_tokens":100"#));
/// assert!(body(&OpenAiChat::new(dialect::deepseek()))?.contains(r#""max_tokens":100"#));
/// # }
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
pub trait Wire<O: Operation>: Send + Sync + std::fmt::Debug + 'static {
    /// Encodes a request. Credentials are added by the transport.
    ///
    /// # Errors
    /// `InvalidRequest` if the API cannot express the request. Nothing is left out silently.
    fn encode(&self, request: &O::Request, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError>;

    /// Creates a decoder for one reply with this head, whatever its status is.
    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<O>>;

    /// Creates a decoder for the reply to this request. Names of tools that the API does not accept, such as `fs.read`, are
    /// sent in their [portable](agcore_chat::tool_name::portable) form; this decoder restores them.
    fn decoder_for(&self, head: &ReplyHead, request: &O::Request) -> Box<dyn Decoder<O>> {
        let _ = request;
        self.decoder(head)
    }

    /// Returns the token limit that is sent to this model if a request sets none; `None` if no limit is sent in that
    /// case.
    fn default_token_limit(&self, _model: &str) -> Option<u64> {
        None
    }
}

/// An API that a build supports.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Api {
    /// The name, which is also the name of the feature and of the folder with its wire cases.
    pub name: &'static str,
    new_wire: fn() -> Box<dyn Wire<Chat>>,
}

impl Api {
    /// Creates an entry for an API. `new_wire` creates a wire with default settings.
    #[cfg(feature = "_api")]
    pub(crate) const fn new(name: &'static str, new_wire: fn() -> Box<dyn Wire<Chat>>) -> Self {
        Self { name, new_wire }
    }

    /// Creates a wire of this API with default settings.
    pub fn wire(&self) -> Box<dyn Wire<Chat>> {
        (self.new_wire)()
    }
}

/// Options of [`Wire::encode`] that are not part of the request.
///
/// ```
/// use agcore_wire::EncodeOptions;
///
/// let options = EncodeOptions::new("gpt-5-mini").with_stream(true);
/// assert_eq!((options.model, options.stream), ("gpt-5-mini", true));
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EncodeOptions<'a> {
    /// The model to ask if the request does not name one.
    pub model: &'a str,
    /// Whether to stream the reply.
    pub stream: bool,
}

impl<'a> EncodeOptions<'a> {
    /// Creates options for a whole reply, with this default model.
    pub fn new(model: &'a str) -> Self {
        Self { model, stream: false }
    }

    /// Sets whether to stream the reply.
    #[must_use]
    pub fn with_stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }
}

/// An encoded request: the path below the base URL, the headers of the API and the body.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WireRequest {
    /// The HTTP method.
    pub method: Method,
    /// The path and query below the base URL, with a leading slash.
    pub path: String,
    /// The headers of the API and of the request, without credentials.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl WireRequest {
    /// Creates a POST request with a JSON body.
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

    /// Creates a GET request.
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }
}

/// The status and headers of a reply.
#[derive(Debug, Clone, Default)]
pub struct ReplyHead {
    /// The HTTP status.
    pub status: StatusCode,
    /// The HTTP headers.
    pub headers: HeaderMap,
}

/// A decoder of one reply. The result does not depend on how the body is split into reads.
///
/// The same decoder handles streams, whole replies and errors. It inspects the head and the first bytes, and does not need
/// to know whether a stream was requested.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use agcore_wire::{Close, Decoder, LlmErrorKind, ReplyDelta, ReplyHead, Wire, dialect, openai_chat::OpenAiChat};
///
/// let wire = OpenAiChat::new(dialect::openai());
/// let mut decoder: Box<dyn Decoder<_>> = Wire::<agcore_wire::Chat>::decoder(&wire, &ReplyHead::default());
/// let mut deltas = Vec::new();
/// for read in ["data: {\"choices\": [{\"delta\": {\"content\": \"H", "i\"}}]}\n\n"] {
///     decoder.feed(read.as_bytes(), &mut deltas)?;
/// }
/// assert_eq!(deltas[1], ReplyDelta::Text { choice: 0, text: "Hi".into() });
///
/// // The connection was closed before a finish reason arrived.
/// let error = decoder.finish(Close::Clean, &mut deltas).unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::Truncated);
/// # }
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
pub trait Decoder<O: Operation>: Send {
    /// Reads more bytes and appends the items that they complete. After an error, the decoder must not be used further.
    ///
    /// # Errors
    /// If the server reports an error, or the bytes do not have the expected form.
    fn feed(&mut self, bytes: &[u8], items: &mut Vec<O::Item>) -> Result<(), LlmError>;

    /// Reads the remaining data after the connection was closed, and checks that the reply is complete.
    ///
    /// # Errors
    /// `Truncated` if a clean close ended the reply early, `Connect` if a reset did, or the errors of [`feed`](Self::feed).
    fn finish(&mut self, close: Close, items: &mut Vec<O::Item>) -> Result<(), LlmError>;

    /// Returns whether the reply is complete although the connection is open, because its terminal marker was read.
    fn is_done(&self) -> bool {
        false
    }
}

/// The way a connection was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// Cleanly.
    Clean,
    /// By a reset or another failure.
    Reset,
}
