//! Tests of the vocabulary through its public API: JSON in, JSON out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests report failures by panicking"
)]

mod api;
mod arbitrary;
mod assistant;
mod errors;
mod events;
mod executor;
mod messages;
mod request;
mod response;
mod sequence;
mod tokens;
mod tools;
mod usage;
