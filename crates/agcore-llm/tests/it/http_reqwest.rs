//! The tests of the HTTP transport, with the client on reqwest.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

mod http;

use agcore_llm::transport::http::HttpClient;

/// The client that these tests use.
fn http_client() -> HttpClient {
    HttpClient::Reqwest
}
