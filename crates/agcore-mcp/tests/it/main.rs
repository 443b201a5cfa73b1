//! Tests of the public API, one module per topic.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests fail by panicking, print what they skip, and one reads the variable AGCORE_SOAK"
)]

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod bad_servers;
#[cfg(feature = "client")]
mod field;
#[cfg(feature = "client")]
mod processes;
#[cfg(feature = "client")]
mod support;
#[cfg(feature = "client")]
mod toolset;
#[cfg(all(feature = "client", feature = "server"))]
mod asks;
#[cfg(all(feature = "client", feature = "server"))]
mod rounds;
#[cfg(all(feature = "client", feature = "server"))]
mod server;
#[cfg(all(feature = "client", feature = "server"))]
mod spawned;
#[cfg(all(feature = "client-http", feature = "server-http"))]
mod http;
#[cfg(all(feature = "client-http", feature = "server-http"))]
mod field_http;
#[cfg(all(feature = "client-http", feature = "server-http"))]
mod field_sessions;
#[cfg(all(feature = "oauth", feature = "server-http"))]
mod oauth;
#[cfg(all(feature = "config", feature = "client-http"))]
mod config;
