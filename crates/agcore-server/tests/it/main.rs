//! Integration tests, one module per topic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

mod support;

mod approvals;
mod bad_input;
mod cancel;
mod conversation;
#[cfg(feature = "jwt")]
mod jwt;
mod limits;
mod postgres;
mod reconnect;
mod restart;
mod routes;
mod tenants;
