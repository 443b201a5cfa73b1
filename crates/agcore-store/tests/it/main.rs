//! Runs the conformance suites on every database.
#![allow(
    clippy::disallowed_methods,
    clippy::exit,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking; some start themselves as other processes, with a job in a variable, and read AGCORE_SOAK"
)]

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod index_changes;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod killed_erasure;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod quotas;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod webhooks;
