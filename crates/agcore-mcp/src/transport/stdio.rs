//! [`StdioTransport`]: a server as a child process.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fmt, io,
    path::PathBuf,
};

use agcore_chat::redact::{KeyRedactor, Redactor};
use agcore_sandbox::Sandbox;
use tokio::process::Command;

use crate::{
    error::{McpError, McpErrorKind},
    process::{OutputTail, Process, Started},
};

/// A server that is started as a child process and talks over its stdin and stdout.
///
/// The process ends with the client: it is asked to when the client is closed, and killed, with everything that it
/// started, when the client is dropped. What it writes to stderr is logged, and its last lines are part of errors.
///
/// ```
/// use agcore_mcp::StdioTransport;
///
/// let transport = StdioTransport::new("npx")
///     .with_args(["-y", "@modelcontextprotocol/server-filesystem", "/data"])
///     .with_env("LOG_LEVEL", "warn");
/// # let _ = transport;
/// ```
#[derive(Clone)]
#[must_use]
pub struct StdioTransport {
    command: OsString,
    args: Vec<OsString>,
    env: BTreeMap<String, String>,
    /// The names of variables whose values are not secrets.
    public_env: BTreeSet<String>,
    inherits_env: bool,
    directory: Option<PathBuf>,
    sandbox: Option<Sandbox>,
}

impl StdioTransport {
    /// Creates a transport for a command: a path, or a name that is searched in `PATH`. No shell is involved.
    pub fn new(command: impl Into<OsString>) -> Self {
        Self {
            command: command.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            public_env: BTreeSet::new(),
            inherits_env: true,
            directory: None,
            sandbox: None,
        }
    }

    /// Adds arguments.
    pub fn with_args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable. Its value is removed from what errors quote of stderr.
    pub fn with_env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.public_env.remove(&name);
        self.env.insert(name, value.into());
        self
    }

    /// Sets an environment variable whose value is not a secret, such as `PATH`.
    pub fn with_public_env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.public_env.insert(name.clone());
        self.env.insert(name, value.into());
        self
    }

    /// Keeps the environment of this process from the server, which then sees only what [`with_env`](Self::with_env)
    /// sets.
    ///
    /// The environment may contain keys that a foreign program should not see. Most programs need at least `PATH`.
    pub fn without_inherited_env(mut self) -> Self {
        self.inherits_env = false;
        self
    }

    /// Sets the working directory; that of this process by default.
    pub fn with_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Confines the server: what it may read, write and reach is decided by the policy of the sandbox.
    ///
    /// ```
    /// use agcore_mcp::StdioTransport;
    /// use agcore_sandbox::{Mode, Policy, Sandbox};
    ///
    /// # if !agcore_sandbox::Support::of_system().is_available() { return Ok(()) }
    /// let sandbox = Sandbox::new(Policy::new(Mode::Strict).with_read("/data"))?;
    /// let transport = StdioTransport::new("notes-server").with_sandbox(sandbox);
    /// # let _ = transport;
    /// # Ok::<(), agcore_sandbox::SandboxError>(())
    /// ```
    pub fn with_sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Starts the process.
    pub(crate) fn start(&self, server: &str) -> Result<Started, McpError> {
        let mut command = self.command(server)?;
        command.args(&self.args);
        // What the sandbox sets, such as the place of temporary files.
        let set: Vec<(OsString, OsString)> = command
            .as_std()
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        if !self.inherits_env {
            command.env_clear();
        }
        command.envs(&self.env).envs(set);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let secrets = self.env.iter().filter(|(name, _)| !self.public_env.contains(*name));
        let tail = OutputTail::new(server, secrets.map(|(_, value)| value.clone()));
        Process::start(command, tail).map_err(|error| self.start_error(server, error))
    }

    fn command(&self, server: &str) -> Result<Command, McpError> {
        let Some(sandbox) = &self.sandbox else {
            return Ok(Command::new(&self.command));
        };
        let confined = sandbox.command(&self.command).map_err(|error| {
            let message = format!("the MCP server {server:?} cannot be started: {error}");
            McpError::new(McpErrorKind::Start, message).with_source(error)
        })?;
        Ok(Command::from(confined))
    }

    fn start_error(&self, server: &str, error: io::Error) -> McpError {
        let command = self.command.display();
        let reason = match (error.kind(), &self.directory) {
            (_, Some(directory)) if !directory.is_dir() => {
                format!(
                    "its working directory `{}` is not a directory; create it, or set another one",
                    directory.display()
                )
            }
            (io::ErrorKind::NotFound, _) => {
                format!("the command `{command}` was not found; install it, or give its full path")
            }
            (io::ErrorKind::PermissionDenied, _) => {
                format!("`{command}` may not be executed; check its permissions, and that it is a program")
            }
            _ => format!("`{command}`: {error}"),
        };
        McpError::new(
            McpErrorKind::Start,
            format!("the MCP server {server:?} cannot be started: {reason}"),
        )
        .with_source(error)
    }
}

impl fmt::Debug for StdioTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args = self
            .args
            .iter()
            .map(|arg| KeyRedactor.redact(&arg.to_string_lossy()).into_owned());
        f.debug_struct("StdioTransport")
            .field("command", &self.command)
            .field("args", &args.collect::<Vec<_>>())
            // The values may be secrets.
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("inherits_env", &self.inherits_env)
            .field("directory", &self.directory)
            .field("sandbox", &self.sandbox.as_ref().map(|sandbox| sandbox.policy().mode()))
            .finish()
    }
}
