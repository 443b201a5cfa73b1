//! Behaviour of templates, the registry and data blocks.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests say what they expect by panicking, and make the files and threads they need"
)]

mod composer;
mod data_block;
mod differential;
mod faults;
mod hostile;
mod loops;
mod partials;
mod registry;
mod serialize;
mod support;
mod template;
mod variables;
mod whitespace;
