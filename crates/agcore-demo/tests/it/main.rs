//! Tests of the models and of the program `agcore-mock` with a plain HTTP client.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic fails the test"
)]

mod client;

mod models;
mod program;
