//! [`McpConfig`]: the servers of an application, in the form that other MCP clients use.

#[cfg(feature = "client")]
mod expand;
#[cfg(feature = "client")]
mod transport;

use std::{collections::BTreeMap, fmt};

use agcore_chat::redact::{KeyRedactor, Redactor};
use serde::Deserialize;

use crate::error::{McpError, McpErrorKind, quote};

/// The servers of an application, in the form that other MCP clients use for `.mcp.json` and `mcp.json`.
///
/// An unknown member is an error, so that a typing mistake is not silently ignored. `${NAME}` and `${NAME:-default}` in
/// values are replaced when a transport is made, by a function that the application passes.
///
/// ```
/// use agcore_mcp::McpConfig;
///
/// let config = McpConfig::from_json(r#"{
///     "mcpServers": {
///         "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "${DATA}"] }
///     }
/// }"#)?;
/// let files = &config.servers["files"];
/// let resolve = |name: &str| (name == "DATA").then(|| "/data".to_owned());
/// let transport = files.transport("files", &resolve)?;
/// assert!(format!("{transport:?}").contains("/data"));
///
/// let error = McpConfig::from_json(r#"{"mcpServers": {"files": {"comand": "npx"}}}"#).unwrap_err();
/// assert!(error.message().contains("mcpServers.files.comand: unknown field `comand`"), "{error}");
/// assert!(error.message().contains("at line 1 column"));
/// # Ok::<(), agcore_mcp::McpError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct McpConfig {
    /// The servers by name.
    #[serde(rename = "mcpServers", alias = "servers", default)]
    pub servers: BTreeMap<String, ServerEntry>,
}

/// One server of a configuration: a command, or a URL.
///
/// It can also be read from other formats, such as a table `[mcp.servers.NAME]` of a TOML file.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ServerEntry {
    /// The kind of transport, `stdio` or `http`; known from the other members if it is missing.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The command of a process.
    pub command: Option<String>,
    /// The arguments of the command.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment variables of the process. Besides these, it sees only a few harmless ones, such as `PATH`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The working directory of the process.
    pub cwd: Option<String>,
    /// The URL of a server over HTTP.
    pub url: Option<String>,
    /// Headers of all requests to the URL.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Whether the server is not used.
    #[serde(default)]
    pub disabled: bool,
    /// How long a call may take without progress, in seconds.
    pub call_timeout_seconds: Option<u64>,
    /// How long connecting may take, in seconds.
    pub connect_timeout_seconds: Option<u64>,
}

impl McpConfig {
    /// Reads a configuration in JSON.
    ///
    /// # Errors
    /// When the text is not JSON, or a member is unknown or has the wrong type; with the path of the member, and the
    /// line and column.
    pub fn from_json(text: &str) -> Result<Self, McpError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            let reason = quote(&KeyRedactor.redact(&error.inner().to_string()));
            // An error of the syntax has no path.
            config_error(match path.as_str() {
                "." | "?" => reason,
                path => format!("{path}: {reason}"),
            })
        });
        let config: Self = read?;
        reader.end().map_err(|error| config_error(error.to_string()))?;
        Ok(config)
    }

    /// Returns the servers that are used: those that are not disabled.
    pub fn enabled(&self) -> impl Iterator<Item = (&str, &ServerEntry)> {
        let servers = self.servers.iter().filter(|(_, server)| !server.disabled);
        servers.map(|(name, server)| (name.as_str(), server))
    }
}

fn config_error(reason: String) -> McpError {
    McpError::new(
        McpErrorKind::Config,
        format!("the configuration of MCP servers cannot be used: {reason}"),
    )
}

impl fmt::Debug for ServerEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments, values and URLs may contain keys.
        f.debug_struct("ServerEntry")
            .field("kind", &self.kind)
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("disabled", &self.disabled)
            .finish_non_exhaustive()
    }
}
