//! Tests of the public API, one module per topic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests fail by panicking, and one reads the variable AGCORE_SOAK"
)]

mod support;

mod approval;
mod audit;
mod bad_input;
mod batch;
mod blocking;
mod begin;
mod confirmation;
mod context;
mod errors;
mod foreign_text;
mod grants;
mod layers;
mod limits;
mod matrix;
mod outputs;
mod permission_model;
mod registry;
mod resume;
mod schema;
mod schema_basic;
#[cfg(feature = "schema")]
mod schema_full;
mod shorten;
mod timeouts;
mod typed;
