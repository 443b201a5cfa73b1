//! Integration tests for catalogs, prices and billing.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests assert by panicking, and read their cases from files"
)]

#[cfg(feature = "archive")]
mod archive;
mod biller;
mod billing;
mod catalog;
mod golden;
mod import;
mod kinds;
mod model;
mod prices;
mod routing;
#[cfg(feature = "shipped")]
mod shipped;
mod snapshot;
mod updates;
