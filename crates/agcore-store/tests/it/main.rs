//! Runs the conformance suites on every database.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod sqlite;
