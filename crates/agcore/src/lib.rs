//! Build LLM agents in Rust, from a single streamed reply to sessions with tools, approvals and budgets.
//!
//! ```
//! use agcore::tools::tool;
//! # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
//!
//! /// Rolls dice and returns their sum.
//! #[tool]
//! async fn dice(
//!     /// How many dice to roll.
//!     number: u32,
//! ) -> Result<u32, String> {
//!     if number > 100 { Err("at most 100 dice".to_owned()) } else { Ok(number * 4) }
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), agcore::AgentError> {
//!     // A real model: agcore::model("openai:gpt-5-mini", api_key)?
//!     let model = scripted_model();
//!     let session = agcore::agent(model).with_instructions("You like games.").with_tool(dice_tool()).session()?;
//!
//!     let outcome = session.turn("Roll two dice for me.").await?;
//!     assert_eq!(outcome.text(), "You rolled an 8.");
//!     Ok(())
//! }
//! #
//! # fn scripted_model() -> ScriptedProvider {
//! #     let call = agcore::chat::ToolCall::function("call_1", "dice", r#"{"number": 2}"#);
//! #     ScriptedProvider::new([ScriptStep::calls([call]), ScriptStep::text("You rolled an 8.")])
//! # }
//! ```
//!
//! Stream the text of a turn instead of waiting for it:
//!
//! ```
//! # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! # let model = ScriptedProvider::new([ScriptStep::text("Good day.")]);
//! let session = agcore::agent(model).session()?;
//!
//! let mut answer = String::new();
//! let mut text = session.turn("Hello").text_stream();
//! while let Some(piece) = text.next().await {
//!     answer.push_str(&piece?);
//! }
//! assert_eq!(answer, "Good day.");
//! # Ok::<(), agcore::AgentError>(())
//! # }).unwrap();
//! ```
//!
//! # Modules
//!
//! This crate contains no logic. It re-exports the crates of agcore as modules, each behind a feature of the same name, and
//! the most used names at the root. Each module starts with an example and a table of what to use for which task.
//!
//! - [`agent`](mod@agent): agents, and sessions that remember earlier turns, stream, suspend, and resume
//! - [`llm`]: providers, streaming, retries and routing, and the agent loop with hooks, budgets and typed output
//! - [`tools`]: typed tools, their registry, permissions and approvals
//! - `mcp`: tools of MCP servers, and a registry as an MCP server
//! - `prompt`: prompt templates, their registry, and blocks of untrusted data
//! - `catalog`: vendors, keys, models and their prices, and what messages cost
//! - `flow`: graphs of agents with checkpoints, and staged flows from files
//! - `eval`: evaluations of agents, with cases in a file
//! - `profile`: profiles of users, and the system prompt that describes a user
//! - `agui`: events for AG-UI front ends, and what these send to start a run
//! - `files`: files as passages with positions and as tables
//! - `ingest`: files and folders as pages of knowledge, with citations of their places
//! - `session`: stores of sessions with their runs and approvals, journals, and conversations that survive the process
//! - `memory`: stores of facts and notes, wikis, knowledge graphs, and search in them
//! - `schedule`: jobs that run by cron, at intervals or once, and the stores that many processes share
//! - `webhook`: signed messages about runs, and the stores from which many processes send them
//! - `trace`: names of spans and metrics, and the context of a trace between processes
//! - `store`: all four in a database, with a feature for each
//! - [`chat`]: messages, tools, requests, replies, token usage and events
//!
//! The guide in the repository, `docs/guide`, has a page for each task, and a table of all providers with their keys.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `full` | All features except `postgres`, which needs a newer compiler. |
//! | `agent` (default) | Agents and sessions. |
//! | `eval` | Evaluations of agents: cases in a file, assertions, reports. |
//! | `llm` (default) | Providers, streaming and the agent loop. |
//! | `prompt` | Prompt templates and the message composer. |
//! | `catalog` | A catalog of vendors, keys, models and prices, billing, and providers for its models. |
//! | `prices` | The catalog and billing without the providers; enabled by `catalog`. |
//! | `list-prices` | Models and list prices of many vendors, which are built in: a snapshot of public sources. |
//! | `profile` | User profiles and the system prompt that describes a user, with documents in TOML and YAML. |
//! | `agui` | Events for AG-UI front ends. |
//! | `files` | Files as passages and tables: text, Markdown, HTML, JSON, CSV, XLSX, PDF, DOCX. |
//! | `documents` | The same without the archive of generated images, sound and videos that `files` adds to `catalog`. |
//! | `text-files` | Files of text alone, in UTF-8, UTF-16 and legacy encodings; enabled by `files`. |
//! | `shared-state` | A JSON document that an agent and an application both change. |
//! | `tool-search` | Requests with few tools, from which the model loads others when it needs them. |
//! | `flow` | Flows of agents: graphs with checkpoints, and staged flows from files. |
//! | `objects` | Files in a bucket of Amazon S3, Google Cloud Storage, Aliyun OSS or Tencent COS. |
//! | `tools` (default) | Tools, permissions and approvals. |
//! | `session` | Stores of sessions, runs and approvals, checkpoints, journals and conversations, in the memory of the process. |
//! | `ingest` | Files and folders as pages of knowledge with citations. |
//! | `memory` | Memory stores, wikis, knowledge graphs and search, in the memory of the process. |
//! | `schedule` | Schedules by cron, interval or time, in the memory of the process. |
//! | `webhook` | Signed webhooks about runs, and the check of what was received, in the memory of the process. |
//! | `user-data` | The export and erasure of everything that a store keeps of a user; enabled by `sqlite` and `postgres`. |
//! | `sqlite` | Sessions, journals, memory, knowledge, schedules and webhooks in a SQLite file, with SQLite built in. |
//! | `postgres` | Sessions, journals, memory, knowledge, schedules and webhooks in a PostgreSQL server. Needs Rust 1.94. |
//! | `redis` | Memory stores and journals in a Redis server. |
//! | `store-tls` | Encrypted connections to PostgreSQL and Redis, with the root certificates of the system. |
//! | `http` (default) | The HTTP transport, built on hyper with rustls and ring. |
//! | `http-reqwest` | The same transport, built on reqwest: used if `http` is off or it is selected. |
//! | `http2` | HTTP/2 in the HTTP transport, where the server supports it. |
//! | `gzip` | Compressed replies in the HTTP transport. |
//! | `tokenizer` | Exact token counts from built-in vocabularies. |
//! | `cassettes` | Exchanges with a model that are recorded once and replayed in tests; enabled by `eval`. |
//! | `openai-chat` (default) | The OpenAI Chat Completions API with its dialects. |
//! | `anthropic` | The Anthropic Messages API. |
//! | `openai-responses` | The OpenAI Responses API. |
//! | `ollama` | The native API of Ollama. |
//! | `gemini` | The native API of Gemini. |
//! | `bedrock` | The Converse API of Amazon Bedrock, with signatures of requests. |
//! | `all-apis` | All of these APIs. |
//! | `rerank` | Models that rate the relevance of documents. |
//! | `media` | Models that make or read images, sound and videos. |
//! | `otel` | Spans for OpenTelemetry: lists in attributes as lists, for programs that export spans with tracing-opentelemetry 0.34. |
//! | `schema` | All keywords and drafts of JSON Schema for arguments and results of tools, also `pattern`; enabled by `flow` and `mcp`. |
//! | `typed` | JSON Schemas derived from Rust types for typed output; enabled by `agent`. |
//! | `macros` (default) | The attribute macro `#[tool]`, which turns a function into a tool. |
//! | `mcp` | The Model Context Protocol: tools of MCP servers, and a registry as an MCP server. |
//! | `mcp-config` | The `mcpServers` form in which MCP clients name their servers, without a client; enabled by `mcp`. |
//! | `mcp-http` | MCP over Streamable HTTP, as a client and as a server. |
//! | `mcp-oauth` | OAuth for MCP servers over Streamable HTTP. |
//!
//! <!-- /features -->

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod chat;
#[cfg(feature = "llm")]
pub mod llm;
#[cfg(feature = "otel")]
pub mod trace;
#[cfg(feature = "session")]
pub mod session;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "schedule")]
pub mod schedule;
#[cfg(feature = "webhook")]
pub mod webhook;
#[cfg(any(feature = "redis", feature = "user-data"))]
pub mod store;
#[cfg(feature = "prompt")]
pub mod prompt;
#[cfg(feature = "prices")]
pub mod catalog;
#[cfg(feature = "profile")]
pub mod profile;
#[cfg(feature = "agui")]
pub mod agui;
#[cfg(feature = "text-files")]
pub mod files;
#[cfg(feature = "ingest")]
pub mod ingest;
#[cfg(feature = "tools")]
pub mod tools;
#[cfg(feature = "mcp-config")]
pub mod mcp;
#[cfg(feature = "agent")]
pub mod agent;
#[cfg(feature = "flow")]
pub mod flow;
#[cfg(feature = "eval")]
pub mod eval;

#[doc(no_inline)]
pub use agcore_chat::{ChatRequest, ChatResponse, Message, StreamEvent};

#[cfg(feature = "llm")]
#[doc(no_inline)]
pub use agcore_cycle::{CycleError, LlmCycle};
#[cfg(feature = "llm")]
#[doc(no_inline)]
pub use agcore_llm::{LlmError, LlmProvider, LlmProviderExt};

#[cfg(all(feature = "_http", feature = "_api"))]
#[cfg_attr(
    docsrs,
    doc(cfg(all(
        any(feature = "http", feature = "http-reqwest"),
        any(
            feature = "anthropic",
            feature = "gemini",
            feature = "bedrock",
            feature = "ollama",
            feature = "openai-chat",
            feature = "openai-responses"
        )
    )))
)]
pub use agcore_llm::model;

#[cfg(feature = "tools")]
#[doc(no_inline)]
pub use agcore_tools::ToolRegistry;

#[cfg(feature = "agent")]
#[doc(no_inline)]
pub use agcore_agent::{AgentBuilder, AgentError, AgentSession, AgentSpec, agent};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
