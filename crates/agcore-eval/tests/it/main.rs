//! Integration tests, one module per topic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

mod checks;
mod documents;
mod judge;
mod reports;
mod runs;
