//! Integration tests for templates, the registry, the composer and data blocks.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests assert by panicking, and create the files and threads they need"
)]

mod composer;
mod data_block;
mod differential;
mod errors;
mod hostile;
mod loops;
mod partials;
mod registry;
mod serialize;
mod support;
mod template;
mod variables;
mod whitespace;
