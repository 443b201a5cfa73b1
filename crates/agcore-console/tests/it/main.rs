//! Tests of the pages as HTML.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

mod data;
mod html;
mod hostile;
mod links;
mod snapshots;
