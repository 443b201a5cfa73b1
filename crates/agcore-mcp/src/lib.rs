//! The Model Context Protocol for agcore: tools of MCP servers in a registry.
//!
//! `McpClient` connects to a server, and `McpClient::register_into` adds the server's tools to a
//! [`ToolRegistry`](agcore_tools::ToolRegistry). They are ordinary tools there: arguments are validated, permissions and
//! approvals apply, results are cut, and every decision is in the audit log. `McpServer` is the other direction: it offers
//! the tools of a registry to other programs.
//!
//! ```
//! # #[cfg(all(feature = "client", feature = "server"))]
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use agcore_mcp::{McpClient, McpServer, McpTransport, ToolsetOptions};
//! use agcore_tools::{NoArguments, Permission, PermissionConfig, PermissionRules, ToolRegistry, typed};
//!
//! // A server. Usually it is another program: `StdioTransport::new("npx").with_args([…])`.
//! let remote = ToolRegistry::new();
//! remote.register(typed("ping", "Pings.", |_: NoArguments| async { Ok("pong") }))?;
//! let (ours, theirs) = tokio::io::duplex(4096);
//! let (read, write) = tokio::io::split(theirs);
//! tokio::spawn(async move { McpServer::new(remote).serve(read, write).await });
//!
//! // Its tools in a registry, which follows the server.
//! let (read, write) = tokio::io::split(ours);
//! let client = McpClient::connect("local", McpTransport::streams(read, write)).await?;
//! let tools = ToolRegistry::new();
//! let toolset = client.register_into(&tools, ToolsetOptions::new().with_prefix("local_")).await?;
//! assert!(toolset.problems().is_empty());
//! assert!(tools.get("local_ping").is_some());
//!
//! // Foreign tools need a permission that no rule allows by default. With an approver, a person is asked instead.
//! let allowed = [Permission::Read, Permission::custom("mcp:local")?];
//! let rules = PermissionRules::new(PermissionConfig::default().with_allowed(allowed));
//! # let _ = rules;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # What servers can do
//!
//! A server is a foreign program. It runs with the rights of this process, unless the application restricts it. Its
//! descriptions and results are read by the model, so they can try to instruct the model: rules and approvals must not
//! depend on them, nor on the annotations of tools. `ToolsetOptions::with_filter` is the place to check descriptions.
//! Sizes and waits are limited by `ClientOptions`.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `client` | `McpClient`: servers that are started as child processes, or reached through any pair of byte streams. |
//! | `server` | `McpServer`: a registry as a server, over stdio or any pair of byte streams. |
//! | `client-http` | `HttpTransport`: servers over Streamable HTTP, with rustls and ring. |
//! | `oauth` | `OAuth`: authorization at servers over HTTP. |
//! | `server-http` | `McpServer::serve_http`: a registry over Streamable HTTP. |
//! | `config` | `McpConfig`: the `mcpServers` form in which MCP clients name their servers. With `client`, their transports. |
//!
//! <!-- /features -->

mod error;
mod identity;
mod prompt;
mod resource;
#[cfg(feature = "oauth")]
mod oauth;
#[cfg(any(feature = "client", feature = "server"))]
mod inbox;
#[cfg(feature = "client")]
mod process;
#[cfg(feature = "client")]
mod transport;
#[cfg(any(feature = "client", feature = "server"))]
mod ask;
pub mod form;
#[cfg(any(feature = "client", feature = "server"))]
mod convert;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod toolset;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "config")]
mod config;

#[cfg(any(feature = "client", feature = "server"))]
pub use ask::{Elicitation, ElicitationAnswer, Elicitor, SampleAnswer, SampleRequest, Sampler};
#[cfg(feature = "client")]
pub use client::{
    ClientOptions, Lifecycle, McpClient, PeerInfo, RemoteTool, Restart, ServerEvent, ServerEvents, ToolCallRequest,
};
#[cfg(feature = "config")]
pub use config::{McpConfig, ServerEntry};
pub use error::{McpError, McpErrorKind};
pub use identity::Identity;
#[cfg(feature = "oauth")]
pub use oauth::{Authorizer, InMemoryTokenStore, OAuth, TokenStore};
pub use prompt::{Prompt, PromptArgument, PromptInfo};
pub use resource::{ResourceBody, ResourceContents, ResourceInfo, ResourceTemplate};
#[cfg(feature = "server-http")]
pub use server::HttpServerOptions;
#[cfg(feature = "server")]
pub use server::{McpPeer, McpServer, PromptSource, ResourceSource};
#[cfg(feature = "client")]
pub use toolset::{McpTool, McpToolset, ToolsetOptions};
#[cfg(feature = "client-http")]
pub use transport::HttpTransport;
#[cfg(feature = "client")]
pub use transport::{McpTransport, StdioTransport};
