//! Tests of the mock model server with a plain HTTP client, and of the conformance suite.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic fails the test"
)]

mod client;

mod behaviors;
mod bytes;
mod chat;
#[cfg(all(feature = "conformance", feature = "scripted"))]
mod conformance;
mod endings;
mod errors;
mod events;
mod prompt_cache;
mod requests;
mod serving;
mod time;
mod validation;
mod wires;
