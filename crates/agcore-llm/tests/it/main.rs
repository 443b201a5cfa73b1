//! Integration tests, a module for each topic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

#[cfg(feature = "anthropic")]
mod anthropic_decode;
#[cfg(feature = "anthropic")]
mod anthropic_encode;
mod breaker;
mod budget;
mod budget_pool;
mod byte_stable;
mod compaction;
mod compaction_by_hand;
mod compaction_random;
mod cassette;
mod config;
mod conformance;
mod cycle;
mod cycle_edges;
mod deltas;
mod dialects;
mod embed;
mod errors;
mod fallback;
mod hooks;
mod http;
mod key_pool;
mod key_pool_random;
mod machine;
#[cfg(feature = "ollama")]
mod ollama_decode;
#[cfg(feature = "ollama")]
mod ollama_encode;
mod openai_chat_decode;
mod openai_chat_encode;
mod public_types;
mod rate_limit;
mod registry;
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
mod retry;
mod sdk_types;
mod router;
mod router_support;
mod sse;
mod support;
#[cfg(feature = "typed")]
mod typed;
#[cfg(feature = "tokenizer")]
mod tokenizer;
mod wire_cases;
#[cfg(all(
    feature = "anthropic",
    feature = "ollama",
    feature = "openai-chat",
    feature = "openai-responses"
))]
mod vendors;
