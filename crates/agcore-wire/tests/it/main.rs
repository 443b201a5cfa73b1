//! Behavior of the encoders and decoders, checked from the outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

#[cfg(feature = "openai-chat")]
mod adapt;
#[cfg(feature = "anthropic")]
mod anthropic_caching;
#[cfg(feature = "anthropic")]
mod anthropic_decode;
#[cfg(feature = "anthropic")]
mod anthropic_encode;
#[cfg(feature = "bedrock")]
mod bedrock_encode;
#[cfg(feature = "openai-chat")]
mod dialects;
#[cfg(feature = "openai-chat")]
mod costs;
mod deltas;
mod errors;
#[cfg(feature = "bedrock")]
mod event_stream;
#[cfg(feature = "gemini")]
mod gemini_encode;
#[cfg(feature = "openai-chat")]
mod given_back;
#[cfg(all(feature = "media", feature = "rerank"))]
mod kind_cases;
#[cfg(feature = "media")]
mod media;
#[cfg(feature = "ollama")]
mod ollama_decode;
#[cfg(feature = "ollama")]
mod ollama_encode;
#[cfg(feature = "openai-chat")]
mod openai_chat_decode;
#[cfg(feature = "openai-chat")]
mod openai_chat_encode;
#[cfg(feature = "rerank")]
mod rerank;
#[cfg(feature = "openai-responses")]
mod responses_decode;
#[cfg(feature = "openai-responses")]
mod responses_encode;
#[cfg(feature = "openai-responses")]
mod responses_random;
#[cfg(feature = "openai-responses")]
mod responses_round_trip;
#[cfg(feature = "openai-responses")]
mod responses_support;
#[cfg(feature = "openai-chat")]
mod sdk_types;
#[cfg(any(feature = "media", feature = "rerank"))]
mod shapes;
mod sse;
#[cfg(feature = "openai-chat")]
mod tool_names;
#[cfg(feature = "all-apis")]
mod vendors;
mod wire_cases;
