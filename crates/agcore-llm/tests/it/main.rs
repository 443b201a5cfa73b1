//! Integration tests, a module for each topic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

mod breaker;
mod config;
mod conformance;
mod cycle;
mod cycle_edges;
mod deltas;
mod dialects;
mod errors;
mod fallback;
mod http;
mod key_pool;
mod key_pool_random;
mod machine;
mod openai_chat_decode;
mod openai_chat_encode;
mod public_types;
mod rate_limit;
mod registry;
mod retry;
mod router;
mod router_support;
mod sse;
mod support;
mod wire_cases;
