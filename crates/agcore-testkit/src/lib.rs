//! Test doubles for LLM agents: a mock model server, scripted providers, a conformance suite and a manual clock.
//!
//! Each module is a separate feature, and `mock_server` works without the other agcore crates.
//!
//! ```
//! # #[cfg(feature = "mock-server")]
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use agcore_testkit::mock_server::{MockServer, Reply, Script};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! let server = MockServer::start(Script::new([Reply::text("Good day.")])).await.unwrap();
//!
//! // Any HTTP client can talk to the server.
//! let body = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
//! let mut client = tokio::net::TcpStream::connect(server.address()).await.unwrap();
//! let head = format!("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
//! client.write_all((head + body).as_bytes()).await.unwrap();
//! let mut reply = String::new();
//! client.read_to_string(&mut reply).await.unwrap();
//!
//! assert!(reply.contains(r#""content":"Good day.""#));
//! assert_eq!(server.requests()[0].prompt().last_user(), "Hi");
//! server.assert_done();
//! # });
//! ```
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `mock-server` (default) | `mock_server`: a model server on loopback that plays answers and faults. |
//! | `scripted` | `scripted`: a provider that plays a script, without a network. |
//! | `clock` | `clock`: a clock that a test controls. |
//! | `conformance` | `conformance`: a conformance suite for providers; over HTTP with `mock-server`, for layers with `scripted`. |
//! | `stores` | `stores`: conformance suites for the stores of sessions, memory items, journals, checkpoints, schedules and webhooks, and a store whose calls go wrong. |
//! | `profiles` | `profiles`: a conformance suite for sources of profiles. |
//! | `catalogs` | `catalogs`: a conformance suite for sources of catalogs. |
//! | `network` | `network`: denies network access to agcore's HTTP transport during tests. |
//! | `spans` | `spans`: records tracing spans for assertions. |
//! | `crash` | `crash`: processes that are killed while they work, for tests of what survives it. |
//! | `gzip` | `Fault::Gzip`: compressed replies of the mock server. |
//!
//! <!-- /features -->

#[cfg(feature = "clock")]
pub mod clock;
#[cfg(feature = "mock-server")]
pub mod mock_server;
#[cfg(feature = "scripted")]
pub mod scripted;
#[cfg(feature = "spans")]
pub mod spans;
#[cfg(feature = "crash")]
pub mod crash;
#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "stores")]
pub mod stores;
#[cfg(feature = "profiles")]
pub mod profiles;
#[cfg(feature = "catalogs")]
pub mod catalogs;

/// Denying network access, so that a test that would make a real call fails instead.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_llm::{LlmErrorKind, LlmProviderExt, ProviderConfig};
/// use agcore_testkit::network::deny_network;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let _denied = deny_network();
/// let provider = ProviderConfig::parse("openai:gpt-5-mini")?.with_api_key("sk-example").build()?;
/// let error = provider.chat(ChatRequest::new([Message::user("Hello")])).await.unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::Connect);
/// assert!(!error.is_retryable() && error.message().contains("`deny_network()` at"));
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// ```
///
/// Servers on loopback, such as `mock_server`, remain reachable unless
/// [`with_loopback_denied`](network::NetworkDenial::with_loopback_denied) is called. The denial applies to the entire
/// process: see [`deny_network`](network::deny_network).
#[cfg(feature = "network")]
pub mod network {
    pub use agcore_llm::transport::http::{NetworkDenial, deny_network};
}

#[cfg(all(doctest, feature = "conformance", feature = "mock-server", feature = "scripted"))]
#[doc = include_str!("../README.md")]
struct Readme;
