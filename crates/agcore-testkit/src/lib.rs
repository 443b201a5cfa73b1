//! Doubles for testing LLM agents, one feature per part.
//!
//! ```
//! # #[cfg(feature = "mock-server")]
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use agcore_testkit::mock_server::{MockServer, Reply, Script};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! let server = MockServer::start(Script::new([Reply::text("Good day.")])).await.unwrap();
//!
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
//! | feature | part |
//! |---|---|
//! | `mock-server` (default) | `mock_server`: a model server on loopback that plays answers and faults, and the program `agcore-mock` |
//! | `scripted` | `scripted`: a provider that plays a script, without any network |
//! | `clock` | `clock`: a clock that a test turns |
//! | `conformance` | `conformance`: what every provider shall do, checked on yours; with `mock-server` over HTTP, with `scripted` for layers |
//! | `network` | `network`: no request of agcore's HTTP transport leaves this machine |
//! | `spans` | `spans`: the spans of a test, to assert on |
//! | `gzip` | replies of the mock server that come compressed although nobody asked |

#[cfg(feature = "clock")]
pub mod clock;
#[cfg(feature = "mock-server")]
pub mod mock_server;
#[cfg(feature = "scripted")]
pub mod scripted;
#[cfg(feature = "network")]
pub mod network;
#[cfg(feature = "spans")]
pub mod spans;
#[cfg(feature = "conformance")]
pub mod conformance;
