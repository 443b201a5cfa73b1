//! The Model Context Protocol: tools of other programs for an agent, and tools of this one for other programs.
//!
//! ```
//! use agcore::{
//!     ToolRegistry,
//!     mcp::{McpClient, McpServer, McpTransport, ToolsetOptions},
//!     tools::{NoArguments, typed},
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let remote = ToolRegistry::new();
//! remote.register(typed("ping", "Pings.", |_: NoArguments| async { Ok("pong") }))?;
//! let (ours, theirs) = tokio::io::duplex(4096);
//! let (read, write) = tokio::io::split(theirs);
//! tokio::spawn(async move { McpServer::new(remote).serve(read, write).await });
//!
//! let (read, write) = tokio::io::split(ours);
//! let client = McpClient::connect("local", McpTransport::streams(read, write)).await?;
//! let tools = ToolRegistry::new();
//! let _toolset = client.register_into(&tools, ToolsetOptions::new().with_prefix("local_")).await?;
//! assert!(tools.get("local_ping").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | start a server as a process, and connect to it | [`McpClient::connect`] with a [`StdioTransport`] |
//! | connect to a URL | `HttpTransport` (feature `mcp-http`) |
//! | read the configuration of other MCP clients | [`McpConfig`] |
//! | give its tools to an agent | [`McpClient::register_into`] |
//! | restart it after a crash, or wait longer | [`ClientOptions`] |
//! | read its resources and prompts | [`McpClient::read_resource`] and [`McpClient::get_prompt`] |
//! | offer tools to other programs | [`McpServer`]; over HTTP with the feature `mcp-http` |
//!
//! These are the public items of the crate `agcore-mcp`.

#[doc(inline)]
pub use agcore_mcp::*;
