//! LLM providers: the provider contract, streamed replies, HTTP transport, retries, rate limits, routing and recordings.
//!
//! ```
//! use agcore_chat::{ChatRequest, ChatResponse, Message};
//! use agcore_llm::{LlmProviderExt, provider_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! // A model over HTTP is `agcore_llm::model("openai:gpt-5-mini", key)?`. Here, a function answers.
//! let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Paris.")) });
//! let request = ChatRequest::new([Message::user("What is the capital of France?")]);
//!
//! // Wait for the whole response …
//! let response = provider.chat(request.clone()).await?;
//! assert_eq!(response.text(), "Paris.");
//!
//! // … or read the text while the model writes it.
//! let mut text = provider.chat_stream(request).text_stream();
//! let mut answer = String::new();
//! while let Some(piece) = text.next().await {
//!     answer.push_str(&piece?);
//! }
//! assert_eq!(answer, "Paris.");
//! # Ok::<(), agcore_llm::LlmError>(())
//! # }).unwrap();
//! ```
//!
//! [`LlmProvider`] is the contract to implement and to wrap, [`LlmProviderExt`] has the methods to call. A provider usually
//! is a [wire], which encodes requests and decodes replies, on a [transport], which moves the bytes. [Layers](layer) wrap
//! providers; with the feature `cassettes`, `cassette::RecordingProvider` records them for tests. A [`ProviderRegistry`]
//! holds providers by name.
//!
//! The agent loop, which calls tools and sends their results back to the model, is in `agcore-cycle`.
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
//! | `bedrock` | The Converse API of Amazon Bedrock, with signatures of requests. |
//! | `all-apis` | All of these APIs. |
//! | `rerank` | Models that rate the relevance of documents. |
//! | `media` | Models that make or read images, sound and videos. |
//! | `http` (default) | The HTTP transport, built on hyper with rustls and ring. |
//! | `http-reqwest` | The same transport, built on reqwest: used if `http` is off or it is selected. |
//! | `http2` | HTTP/2 in the HTTP transport, where the server supports it. |
//! | `gzip` | Compressed replies in the HTTP transport. |
//! | `tokenizer` | Exact token counts from built-in vocabularies (o200k, cl100k, Qwen). |
//! | `otel` | Lists in spans as lists of OpenTelemetry instead of text, for programs that export spans with tracing-opentelemetry 0.34. |
//! | `cassettes` | Exchanges with a model that are recorded once and replayed in tests. |
//!
//! <!-- /features -->

mod random;
mod reply;
mod provider;
pub mod credential;
pub mod transport;
mod wire_provider;
mod embedder;
#[cfg(all(feature = "_http", feature = "_api"))]
mod config;
mod registry;
pub mod layer;
mod provider_ext;
#[cfg(feature = "_kinds")]
mod kinds;
#[cfg(feature = "tokenizer")]
mod tokenizer;
#[cfg(feature = "cassettes")]
pub mod cassette;

#[doc(inline)]
pub use agcore_chat::SystemClock;
#[doc(inline)]
pub use agcore_wire as wire;
#[cfg(feature = "openai-chat")]
#[doc(inline)]
pub use agcore_wire::dialect;
#[doc(inline)]
pub use agcore_wire::{Fold, LlmError, LlmErrorKind, ReplyDelta, TimeoutStage};
#[cfg(all(feature = "_http", feature = "_api"))]
pub use config::{ProviderConfig, ProviderType, UnknownProviderType, model};
#[cfg(feature = "media")]
pub use kinds::{
    GeneratedImages, ImageModel, ModelImages, ModelSpeech, ModelTranscriber, ModelVideos, PollPolicy, Speech,
    SpeechModel, SpeechStream, Transcriber, Transcript, VideoFile, VideoModel,
};
#[cfg(feature = "rerank")]
pub use kinds::{ModelReranker, RankedDocument, Ranking, Reranker};
#[cfg(feature = "tokenizer")]
pub use tokenizer::{ExactEstimator, NoVocabulary};
pub use {
    embedder::{EmbeddingProvider, ModelEmbedder},
    provider::{Call, CallOperation, Capabilities, FnProvider, LlmProvider, ProviderInfo, ProviderRoute, provider_fn},
    provider_ext::LlmProviderExt,
    random::{Random, system_random},
    registry::ProviderRegistry,
    reply::{Notice, ReplyItem, ReplyStream, ReplyTextStream},
    wire_provider::{CarriedOperation, OperationProvider, WireProvider, call_wire},
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
