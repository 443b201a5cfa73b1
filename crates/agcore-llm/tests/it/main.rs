//! Behavior of providers, transport and layers, checked from the outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

#[cfg(feature = "cassettes")]
mod actor;
mod always_ready;
#[cfg(feature = "bedrock")]
mod bedrock;
mod breaker;
#[cfg(feature = "cassettes")]
mod cassette;
mod config;
mod conformance;
mod embed;
mod fallback;
#[cfg(feature = "all-apis")]
mod fallback_matrix;
mod http;
mod key_pool;
mod key_pool_random;
#[cfg(all(feature = "cassettes", feature = "media", feature = "rerank"))]
mod kinds;
mod metadata;
mod provider_fn;
mod public_types;
mod rate_limit;
mod registry;
mod retry;
mod router;
mod routes;
mod support;
mod tokens;
#[cfg(feature = "tokenizer")]
mod tokenizer;
mod tool_names;

/// The client that the tests of the HTTP transport use.
fn http_client() -> agcore_llm::transport::http::HttpClient {
    agcore_llm::transport::http::HttpClient::default()
}
