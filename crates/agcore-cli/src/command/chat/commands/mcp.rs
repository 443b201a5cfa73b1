//! MCP servers in a chat: `/mcp`, `/prompt`, and `@SERVER:URI` in messages.

#[cfg(feature = "mcp")]
mod servers;
#[cfg(not(feature = "mcp"))]
mod without_mcp;

#[cfg(feature = "mcp")]
pub(in crate::command::chat) use self::servers::{Resource, listing, mentioned, prompt, read};
#[cfg(not(feature = "mcp"))]
pub(in crate::command::chat) use self::without_mcp::{Resource, listing, mentioned, prompt, read};
