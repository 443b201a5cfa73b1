//! Tests of the tools that `#[tool]` creates.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests fail by panicking"
)]

mod support;

mod arguments;
mod attributes;
mod context;
mod description;
mod facade;
mod options;
mod outcome;
