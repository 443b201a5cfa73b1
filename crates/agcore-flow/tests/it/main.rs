//! Integration tests for flows.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests assert by panicking"
)]

mod checkpoints;
mod crash;
mod engine;
mod forks;
mod graph;
mod interrupts;
mod pictures;
mod spans;
mod subflows;
mod support;
