//! The mock model server, judged by a plain HTTP client.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it expects by failing"
)]

mod client;

mod behaviours;
mod bytes;
mod chat;
#[cfg(all(feature = "conformance", feature = "scripted"))]
mod conformance;
mod endings;
mod errors;
mod events;
mod program;
mod requests;
mod serving;
mod time;
mod wires;
