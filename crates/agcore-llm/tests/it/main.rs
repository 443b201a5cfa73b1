//! Integration tests, a module for each topic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

mod budget;
mod budget_pool;
mod byte_stable;
mod compaction;
mod compaction_by_hand;
mod compaction_random;
mod config;
mod conformance;
mod cycle;
mod cycle_edges;
mod deltas;
mod dialects;
mod errors;
mod http;
mod machine;
mod openai_chat_decode;
mod openai_chat_encode;
mod public_types;
mod registry;
mod retry;
mod sse;
mod support;
mod wire_cases;
