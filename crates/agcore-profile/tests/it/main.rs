//! Integration tests for profiles: values, settings, sources and the system prompt.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests assert by panicking"
)]

mod documents;
mod prompt;
mod settings;
mod support;
mod values;
