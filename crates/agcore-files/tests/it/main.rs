//! Integration tests for files: each format, hostile files, and storages.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "tests assert by panicking"
)]
#![cfg(all(feature = "formats", feature = "local"))]

mod docx;
mod encodings;
mod folder;
mod hostile;
mod html;
mod json;
mod kinds;
mod markdown;
mod mutations;
mod pdf;
mod pdf_cmaps;
mod pdf_fonts;
mod pdf_forms;
mod pdf_hostile;
mod pdf_losses;
mod pdf_words;
mod positions;
mod samples;
mod storage;
mod support;
mod tables;
mod text;
mod xlsx;
