//! Tests of the facade as a user sees it, with its default features. The manifest of this crate has neither serde nor
//! schemars, and the tools do not name the crate.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests fail by panicking"
)]

#[cfg(all(feature = "agent", feature = "http", feature = "openai-chat"))]
mod budgets;
#[cfg(all(feature = "agent", feature = "http", feature = "macros"))]
mod diagnostics;
#[cfg(feature = "all-apis")]
mod providers;
mod tools;
