//! Integration tests for AG-UI: the encoder, the order of events, dialects, and the input of runs.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests assert by panicking"
)]

mod encoder;
mod order;
mod run_input;
mod schemas;
mod support;
