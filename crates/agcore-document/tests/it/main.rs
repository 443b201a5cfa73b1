//! Documents as values with places, and as types.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

mod formats;
mod hostile;
mod problems;
mod types;
mod yaml;
