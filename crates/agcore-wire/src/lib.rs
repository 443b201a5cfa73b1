//! Encoders and decoders for LLM APIs: requests to bytes, and bytes of replies to typed deltas.
//!
//! Everything in this crate is pure. There is no async runtime, no HTTP client and no clock, so it can be used alone: in a
//! gateway, a proxy, a log reader, or in the browser (it builds for wasm32).
//!
//! ```
//! # #[cfg(feature = "openai-chat")] {
//! use agcore_chat::{ChatRequest, Message};
//! use agcore_wire::{Chat, Close, EncodeOptions, Fold, ReplyHead, Wire, dialect, openai_chat::OpenAiChat};
//!
//! let wire: Box<dyn Wire<Chat>> = Box::new(OpenAiChat::new(dialect::openai()));
//!
//! // Encode a request.
//! let request = ChatRequest::new([Message::user("Hello")]);
//! let encoded = wire.encode(&request, &EncodeOptions::new("gpt-5-mini"))?;
//! assert_eq!(encoded.path, "/chat/completions");
//!
//! // Decode a reply, in chunks of any size.
//! let mut decoder = wire.decoder(&ReplyHead::default());
//! let (mut deltas, mut fold) = (Vec::new(), Fold::new());
//! decoder.feed(br#"{"choices": [{"message": {"con"#, &mut deltas)?;
//! decoder.feed(br#"tent": "Hi!"}, "finish_reason": "stop"}]}"#, &mut deltas)?;
//! decoder.finish(Close::Clean, &mut deltas)?;
//! deltas.into_iter().for_each(|delta| fold.push_owned(delta));
//! assert_eq!(fold.response().text(), "Hi!");
//! # }
//! # Ok::<(), agcore_wire::LlmError>(())
//! ```
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `openai-chat` (default) | The OpenAI Chat Completions API with its dialects. |
//! | `anthropic` | The Anthropic Messages API. |
//! | `openai-responses` | The OpenAI Responses API. |
//! | `ollama` | The native API of Ollama. |
//! | `gemini` | The native API of Gemini. |
//! | `bedrock` | The Converse API of Amazon Bedrock. |
//! | `all-apis` | All of these APIs. |
//! | `rerank` | Models that rate the relevance of documents. |
//! | `media` | Models that make or read images, sound and videos. |
//!
//! <!-- /features -->

mod error;
mod delta;
mod fold;
mod wire;
pub mod adapt;
pub mod operation;
pub mod failure;
mod framing;
#[cfg(any(feature = "_api", feature = "_shapes"))]
mod decode;
#[cfg(any(feature = "_api", feature = "_shapes"))]
mod encode;
#[cfg(feature = "rerank")]
pub mod rerank;
#[cfg(feature = "media")]
pub mod media;
#[cfg(feature = "openai-chat")]
pub mod dialect;
#[cfg(feature = "openai-chat")]
pub mod openai_chat;
#[cfg(feature = "anthropic")]
pub mod anthropic;
#[cfg(feature = "openai-responses")]
pub mod openai_responses;
#[cfg(feature = "ollama")]
pub mod ollama;
#[cfg(feature = "gemini")]
pub mod gemini;
#[cfg(feature = "bedrock")]
pub mod bedrock;
pub mod wire_case;

#[cfg(feature = "_shapes")]
pub use decode::shape::ResponseShape;
pub use delta::{CallFragment, Place, ReplyDelta, ReplyStart, SealedBlock, deltas_from_response};
pub use error::{LlmError, LlmErrorKind, TimeoutStage, Unsupported};
pub use failure::response_metadata;
pub use fold::{Fold, citation::citations};
#[cfg(feature = "bedrock")]
pub use framing::event_stream;
pub use framing::{ndjson, sse};
pub use wire::{Api, Chat, Close, Decoder, EncodeOptions, Operation, ReplyHead, Wire, WireRequest, missing_feature};

/// The APIs of this build. Every API is registered here, and nowhere else in this crate.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{APIS, EncodeOptions};
///
/// let api = APIS.iter().find(|api| api.name == "openai-chat").unwrap();
/// let request = ChatRequest::new([Message::user("Hi")]);
/// let encoded = api.wire().encode(&request, &EncodeOptions::new("gpt-5-mini"))?;
/// assert_eq!(encoded.path, "/chat/completions");
/// # }
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
pub const APIS: &[Api] = &[
    #[cfg(feature = "openai-chat")]
    Api::new("openai-chat", || {
        Box::new(openai_chat::OpenAiChat::new(dialect::openai()))
    }),
    #[cfg(feature = "anthropic")]
    Api::new("anthropic", || Box::new(anthropic::Anthropic::new())),
    #[cfg(feature = "openai-responses")]
    Api::new(
        "openai-responses",
        || Box::new(openai_responses::OpenAiResponses::new()),
    ),
    #[cfg(feature = "ollama")]
    Api::new("ollama", || Box::new(ollama::Ollama::new())),
    #[cfg(feature = "gemini")]
    Api::new("gemini", || Box::new(gemini::Gemini::new())),
    #[cfg(feature = "bedrock")]
    Api::new("bedrock", || Box::new(bedrock::Bedrock::new())),
];

#[cfg(all(doctest, feature = "openai-chat"))]
#[doc = include_str!("../README.md")]
struct Readme;
