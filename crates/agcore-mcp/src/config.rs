//! [`McpConfig`]: the servers of an application, in the form that other MCP clients use.

mod expand;

use std::{collections::BTreeMap, fmt, time::Duration};

use agcore_chat::redact::{KeyRedactor, Redactor};
use serde::Deserialize;

use self::expand::expand;
use crate::{
    client::ClientOptions,
    error::{McpError, McpErrorKind, quote},
    transport::{McpTransport, StdioTransport},
};

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

/// The variables that a process gets from the environment, if they are set. None of them contains a key.
const INHERITED: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LC_ALL",
    "LOCALAPPDATA",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "PROGRAMFILES",
    "SHELL",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
];

/// Returns the value of a variable, if it is set.
type Resolve<'a> = dyn Fn(&str) -> Option<String> + 'a;

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

impl ServerEntry {
    /// Makes the transport of the server. `resolve` returns the values of variables, usually from the environment.
    ///
    /// # Errors
    /// When a variable is not set, or the members do not fit together.
    pub fn transport(&self, name: &str, resolve: &Resolve<'_>) -> Result<McpTransport, McpError> {
        let fail = |reason: &str| config_error(format!("the server {name:?} {reason}"));
        let value = |member: &str, text: &str| {
            expand(text, resolve).map_err(|reason| config_error(format!("the server {name:?}, {member}: {reason}")))
        };
        match (self.kind.as_deref(), &self.command, &self.url) {
            (None | Some("stdio"), Some(command), None) => {
                let mut transport = StdioTransport::new(value("command", command)?).without_inherited_env();
                for argument in &self.args {
                    transport = transport.with_args([value("args", argument)?]);
                }
                for variable in INHERITED {
                    if let Some(inherited) = resolve(variable) {
                        transport = transport.with_public_env(*variable, inherited);
                    }
                }
                for (variable, text) in &self.env {
                    transport = transport.with_env(variable, value(&format!("env.{variable}"), text)?);
                }
                if let Some(directory) = &self.cwd {
                    transport = transport.with_directory(value("cwd", directory)?);
                }
                Ok(transport.into())
            }
            (None | Some("http" | "streamable-http" | "streamableHttp"), None, Some(url)) => {
                let headers = self.headers.iter();
                let headers = headers.map(|(header, text)| Ok((&**header, value(&format!("headers.{header}"), text)?)));
                let headers: Vec<_> = headers.collect::<Result<_, McpError>>()?;
                http(name, &value("url", url)?, &headers)
            }
            (Some("sse"), ..) => Err(fail("uses the transport `sse`, which is not supported; use `http`")),
            (Some("stdio"), None, _) => Err(fail("has no `command`")),
            (Some("http" | "streamable-http" | "streamableHttp"), _, None) => Err(fail("has no `url`")),
            (_, Some(_), Some(_)) => Err(fail("has a `command` and a `url`; remove one of them")),
            (_, None, None) => Err(fail("has neither a `command` nor a `url`; add one of them")),
            (Some(kind), ..) => Err(fail(&format!(
                "has the unknown type {:?}; use `stdio` or `http`",
                quote(kind)
            ))),
        }
    }

    /// Returns the options of a client for the server.
    pub fn options(&self) -> ClientOptions {
        let mut options = ClientOptions::new();
        if let Some(seconds) = self.call_timeout_seconds {
            options = options.with_call_timeout(Duration::from_secs(seconds));
        }
        if let Some(seconds) = self.connect_timeout_seconds {
            options = options.with_connect_timeout(Duration::from_secs(seconds));
        }
        options
    }
}

#[cfg(feature = "client-http")]
fn http(name: &str, url: &str, headers: &[(&str, String)]) -> Result<McpTransport, McpError> {
    let add = |transport: crate::transport::HttpTransport, (header, value): &(&str, String)| {
        transport.with_header(header, value)
    };
    let transport = crate::transport::HttpTransport::new(url).and_then(|new| headers.iter().try_fold(new, add));
    let transport = transport.map_err(|error| config_error(format!("the server {name:?}: {error}")))?;
    Ok(transport.into())
}

#[cfg(not(feature = "client-http"))]
fn http(name: &str, _: &str, _: &[(&str, String)]) -> Result<McpTransport, McpError> {
    let reason = "uses a URL; this program was built without the feature `client-http` of agcore-mcp";
    Err(config_error(format!("the server {name:?} {reason}")))
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
