//! Integration tests for files that become searchable: folders that change, bad files, the quality of answers, and killed
//! processes.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests assert by panicking"
)]

mod support;
mod folders;
mod positions;
mod quality;
mod killed;
mod many;
