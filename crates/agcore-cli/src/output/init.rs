//! [`Init`]: the settings of a session in machine-readable output.

use schemars::JsonSchema;
use serde::Serialize;

/// The settings of a session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Init {
    /// The version of agcore.
    pub(crate) version: String,
    /// The current directory; null if it is unknown.
    pub(crate) cwd: Option<String>,
    /// The provider.
    pub(crate) provider: String,
    /// The model.
    pub(crate) model: String,
    /// The names of the offered tools.
    pub(crate) tools: Vec<String>,
    /// The MCP servers.
    pub(crate) mcp_servers: Vec<McpServer>,
    /// The permission mode: `default`, `acceptEdits`, `plan`, `dontAsk` or `bypassPermissions`.
    pub(crate) permission_mode: String,
    /// Whether the current directory is trusted, in words; null if that is not checked.
    pub(crate) trust: Option<String>,
    /// The files that were added to the instructions.
    pub(crate) context_files: Vec<String>,
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct McpServer {
    /// Its name.
    pub(crate) name: String,
    /// Its status.
    pub(crate) status: String,
}
