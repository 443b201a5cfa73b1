//! [`Init`]: the settings of a session in machine-readable output.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct Init {
    /// The version of agcore.
    pub version: String,
    /// The current directory; null if it is unknown.
    pub cwd: Option<String>,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The names of the offered tools.
    pub tools: Vec<String>,
    /// The MCP servers.
    pub mcp_servers: Vec<McpServer>,
    /// The permission mode: `default`, `acceptEdits`, `plan`, `dontAsk` or `bypassPermissions`.
    pub permission_mode: String,
    /// Whether the current directory is trusted, in words; null if that is not checked.
    pub trust: Option<String>,
    /// The files that were added to the instructions.
    pub context_files: Vec<String>,
}

impl Init {
    /// Creates the settings of a session without tools, in which this provider and model answer.
    pub fn new(version: impl Into<String>, provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            version: version.into(),
            cwd: None,
            provider: provider.into(),
            model: model.into(),
            tools: Vec::new(),
            mcp_servers: Vec::new(),
            permission_mode: "default".to_owned(),
            trust: None,
            context_files: Vec::new(),
        }
    }
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// Its status.
    pub status: String,
}

impl McpServer {
    /// Creates a server with a status, such as `connected` or `failed`.
    pub fn new(name: impl Into<String>, status: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            status: status.into(),
        }
    }
}
