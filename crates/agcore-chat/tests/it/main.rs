//! The vocabulary as its users and the wires see it: JSON in, JSON out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test says what it expects by failing"
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
