//! A mock model server on loopback that plays scripted answers and faults over real HTTP.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use agcore_testkit::mock_server::{ApiError, Ending, Fault, MockServer, Outcome, Point, Reply, Script};
//! # use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
//! # async fn chat(server: &MockServer) -> String {
//! #     let body = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
//! #     let mut client = TcpStream::connect(server.address()).await.unwrap();
//! #     let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ";
//! #     client.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
//! #     let mut reply = String::new();
//! #     client.read_to_string(&mut reply).await.unwrap();
//! #     reply
//! # }
//!
//! let server = MockServer::start(Script::new([
//!     Reply::error(ApiError::new(429).with_retry_after("2")),
//!     Reply::text("never arrives").with_fault(Fault::cut(Point::BeforeHeaders, Ending::Abrupt)),
//!     Reply::text("Good day."),
//! ]))
//! .await
//! .unwrap();
//!
//! // `chat` is the client under test: it posts to `server.base_url()`.
//! assert!(chat(&server).await.starts_with("HTTP/1.1 429"));
//! assert_eq!(chat(&server).await, "");
//! assert!(chat(&server).await.contains("Good day."));
//!
//! let requests = server.requests();
//! assert_eq!(requests[2].prompt().last_user(), "Hi");
//! assert_eq!(requests[1].outcome(), Outcome::Faulted);
//! server.assert_done();
//! # });
//! ```
//!
//! The server implements OpenAI Chat Completions, OpenAI Responses, Anthropic Messages, Bedrock's Converse and the native APIs of
//! Ollama and Gemini, each both as a single response and as a stream. It does not depend on any other agcore crate: it reads
//! and writes raw JSON according to the vendors' documentation and rejects what the vendors reject, so it can test any client.
//!
//! - A [`Behavior`] decides what to reply: a closure over the request, or a [`Script`]. The crate `agcore-demo` has models
//!   for demonstrations.
//! - A [`Reply`] is an [`Answer`], an [`ApiError`] or raw bytes, with an optional pace and any number of [`Fault`]s.
//! - [`MockServer::requests`] returns every request together with its [`Outcome`]. Tests wait for events instead of
//!   sleeping: see [`MockServer::wait_for_requests`], [`MockServer::wait_for_outcome`] and [`Gate`].

// Data: what a reply consists of.
mod reply;

// Pure functions: requests to prompts, answers to JSON and events, for each API.
mod wire;
mod request;

// Deciding what to reply.
mod behavior;
mod script;
mod prompt_cache;

// Sending it.
mod compose;
mod server;
mod deaf_server;

pub use {
    behavior::{Behavior, Mismatch},
    deaf_server::DeafServer,
    prompt_cache::PromptCache,
    reply::{
        Answer, ApiError, Chunking, Ending, ErrorShape, Fault, Finish, Gate, Hold, LineEnds, Point, Reply, TokenUsage,
        ToolCall, estimate_tokens,
    },
    request::{Outcome, RecordedRequest},
    script::{Script, ScriptParseError},
    server::{MockOptions, MockServer},
    wire::{Api, OfferedTool, Operation, Prompt, Role, Turn, embed},
};
