//! Agents over HTTP: runs with durable events, sessions, approvals, tokens and limits.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_agent::{AgentSpec, agent};
//! use agcore_chat::SystemClock;
//! use agcore_session::InMemorySessionStore;
//! use agcore_server::Server;
//! use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
//! use tokio::{
//!     io::{AsyncReadExt, AsyncWriteExt},
//!     net::{TcpListener, TcpStream},
//! };
//! use tokio_util::sync::CancellationToken;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! # let model = ScriptedProvider::new([ScriptStep::text("Good day, Ada.")]);
//! // In production, a database: `agcore_store::sqlite::SqliteStore::open("sessions.db", clock)`.
//! let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
//! let greeter = AgentSpec::new("greeter", "You greet people.");
//! let server = Server::builder().with_agent("greeter", agent(model).build()?, greeter).with_store(store).build()?;
//!
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let (address, stop) = (listener.local_addr()?, CancellationToken::new());
//! let stopped = stop.clone();
//! let serving = tokio::spawn(async move { server.serve(listener, stopped).await });
//!
//! // Any AG-UI client can talk to the server.
//! let body = r#"{"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "I am Ada."}]}"#;
//! let head = format!(
//!     "POST /api/v1/agent/run HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
//!      content-type: application/json\r\ncontent-length: {}\r\n\r\n",
//!     body.len()
//! );
//! let mut client = TcpStream::connect(address).await?;
//! client.write_all((head + body).as_bytes()).await?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer).await?;
//! assert!(answer.contains("Good day, Ada.") && answer.contains("RUN_FINISHED"));
//!
//! stop.cancel();
//! serving.await??;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | serve agents and flows | [`Server::builder`] |
//! | let clients prove who they are | [`TokenStore`], [`TrustedProxy`], `JwtVerifier` (feature `jwt`), or an [`Authenticator`] of your own |
//! | let users upload files for flows | [`ServerBuilder::with_files`] |
//! | limit what tenants and users may use | [`ServerBuilder::with_quotas`] |
//! | limit what clients may ask for | [`Limits`], [`BusyPolicy`] |
//! | serve the clients of OpenAI | [`ServerBuilder::with_doors`] |
//! | remove old runs, events, sessions and files | [`ServerBuilder::with_retention`], [`ServerBuilder::with_file_retention`] |
//! | export or erase what the server keeps of a user | [`export_server_data`], [`erase_server_data`], [`export_files`], [`erase_files`] |
//! | keep profiles and the catalog in the database | [`StoredProfiles`], [`StoredCatalog`], [`ServerBuilder::with_profiles`], [`ServerBuilder::with_catalog_reload`] |
//! | read the errors of the server | [`ProblemCode`] |
//! | notify other programs of runs | [`ServerBuilder::with_webhooks`], [`WebhookSender`], `HttpSender` (feature `http-sender`) |
//! | start runs when other programs send events | [`ServerBuilder::with_hook`], [`IncomingHook`] |
//! | show runs, questions and conversations to people | `ServerBuilder::with_console` (feature `console`) |
//! | share runs with other processes | [`Sharing`], [`Server::work`] |
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `console` | Pages for people below `/console`: runs, questions and conversations. |
//! | `jwt` | `JwtVerifier`: JSON Web Tokens that another service has signed. |
//! | `http-sender` | `HttpSender`: sends the messages of webhooks over HTTP. |
//!
//! <!-- /features -->
//!
//! The routes are described by `/openapi.json` of a running server and, for people, by `/docs`.

mod problem;
mod openapi;
mod error;
mod settings;
mod flows;
mod run;
mod telemetry;
mod auth;
mod lease;
mod log;
mod stored;
mod files;
mod webhooks;
mod service;
mod stream;
mod api;
mod reports;
mod routes;
#[cfg(feature = "console")]
mod console;
mod server;

pub use agcore_agui::EncoderSettings;

#[cfg(feature = "jwt")]
pub use self::auth::{JwkSetError, JwkSetSource, JwtVerifier};
#[cfg(feature = "http-sender")]
pub use self::webhooks::HttpSender;
pub use self::{
    auth::{
        AdminAuthenticator, AdminTokenError, AdminTokens, Administrator, AuthError, Authenticator, Client, NewToken,
        Token, TokenStore, TrustedProxy,
    },
    error::ServerError,
    files::{FileRetention, erase_files, export_files, prunable_files, prune_files},
    flows::{FlowSetup, ServedFlow},
    log::{RestartError, restart_dead_letter},
    problem::ProblemCode,
    server::{Server, ServerBuilder},
    service::SERVER_HOLD,
    settings::{BusyPolicy, DoorApprovals, DoorSettings, Limits, MediaSources, Role, Sharing, Unfinished},
    stored::{
        ErasedServerData, SharedCatalog, StoredCatalog, StoredProfiles, UserProfile, erase_server_data,
        export_server_data,
    },
    webhooks::{IncomingHook, WebhookMessage, WebhookSender},
};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
