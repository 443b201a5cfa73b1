//! Signatures and profiles, checked from the outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

mod profiles;
mod signatures;
