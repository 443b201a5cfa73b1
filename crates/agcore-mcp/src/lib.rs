//! The Model Context Protocol for agcore: tools of MCP servers in a registry.
//!
//! [`McpClient`] connects to a server, and [`McpClient::register_into`] adds the server's tools to a
//! [`ToolRegistry`](agcore_tools::ToolRegistry). They are ordinary tools there: arguments are validated, permissions and
//! approvals apply, results are cut, and every decision is in the audit log.
//!
//! ```no_run
//! use agcore_mcp::{McpClient, StdioTransport, ToolsetOptions};
//! use agcore_tools::{Permission, PermissionConfig, PermissionRules, ToolRegistry};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = StdioTransport::new("npx").with_args(["-y", "@modelcontextprotocol/server-filesystem", "/data"]);
//! let client = McpClient::connect("files", server).await?;
//!
//! let tools = ToolRegistry::new();
//! let toolset = client.register_into(&tools, ToolsetOptions::new().with_prefix("files_")).await?;
//! for problem in toolset.problems() {
//!     eprintln!("{problem}");
//! }
//!
//! // Foreign tools need a permission that no rule allows by default. With an approver, a person is asked instead.
//! let mut permissions = PermissionConfig::default();
//! permissions.allowed.insert(Permission::custom("mcp:files")?);
//! let rules = PermissionRules::new(permissions);
//! # let _ = rules;
//! # Ok(())
//! # }
//! ```
//!
//! # What servers can do
//!
//! A server is a foreign program. It runs with the rights of this process, unless the application restricts it. Its
//! descriptions and results are read by the model, so they can try to instruct the model: rules and approvals must not
//! depend on them, nor on the annotations of tools. [`ToolsetOptions::with_filter`] is the place to check descriptions.
//! Sizes and waits are limited by [`ClientOptions`].
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `client` | `McpClient`: servers that are started as child processes, or reached through any pair of byte streams. |
//!
//! <!-- /features -->

mod error;
#[cfg(feature = "client")]
mod process;
#[cfg(feature = "client")]
mod transport;
#[cfg(feature = "client")]
mod convert;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod toolset;

#[cfg(feature = "client")]
pub use client::{
    ClientOptions, Identity, Lifecycle, McpClient, PeerInfo, RemoteTool, Restart, ServerEvent, ServerEvents,
    ToolCallRequest,
};
pub use error::{McpError, McpErrorKind};
#[cfg(feature = "client")]
pub use toolset::{McpTool, McpToolset, ToolsetOptions};
#[cfg(feature = "client")]
pub use transport::{McpTransport, StdioTransport};
