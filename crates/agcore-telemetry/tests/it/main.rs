//! Tests of the metrics, and of several layers together.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests assert by panicking"
)]

mod metrics;
mod layers;
#[cfg(feature = "otel")]
mod export;
