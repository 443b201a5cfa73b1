//! Tests of the names and of the context of traces.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests assert by panicking"
)]

mod context;
mod names;
#[cfg(feature = "otel")]
mod propagate;
