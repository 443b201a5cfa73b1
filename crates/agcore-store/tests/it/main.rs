//! Runs the conformance suites on every database.

mod sqlite;
