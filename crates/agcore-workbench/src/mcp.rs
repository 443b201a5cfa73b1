//! Connections to the MCP servers of the settings.

mod tokens;

use std::{path::Path, sync::Arc, time::Duration};

use agcore::{
    mcp::{
        ClientOptions, Identity, McpClient, McpError, McpErrorKind, McpToolset, OAuth, PeerInfo, Restart,
        ToolsetOptions,
    },
    tools::ToolRegistry,
};
use agcore_sandbox::Sandbox;
use agcore_settings::{McpServers, NamedServer, trust::Startable};
use agcore_terminal::process::variable;
use futures_util::future::join_all;

use crate::{program_tools::command_sandbox, server_answers::ServerAnswers};

pub use self::tokens::StoredTokens;

/// The time that all servers together have to end.
const CLOSE_LIMIT: Duration = Duration::from_secs(6);

/// A connected server, whose tools are in a registry.
#[derive(Debug)]
pub struct Connected {
    /// The client of the server.
    pub client: McpClient,
    /// Keeps the tools up to date.
    toolset: McpToolset,
}

impl Connected {
    /// Returns how the server describes itself.
    pub fn peer(&self) -> PeerInfo {
        self.client.server()
    }

    /// Returns why tools of the server are not offered, one reason for each.
    pub fn problems(&self) -> impl Iterator<Item = String> {
        self.toolset.problems().iter().map(ToString::to_string)
    }

    /// Returns warnings about unused parts of the server's list of tools.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.toolset.warnings().iter().map(String::as_str)
    }
}

/// A server of the settings that is used, connected or not.
#[derive(Debug)]
pub struct Server {
    /// How it is reached.
    pub settings: NamedServer,
    /// The connection, or why there is none.
    pub connection: Result<Connected, McpError>,
}

/// The MCP servers of a command, connected or not.
#[derive(Debug, Default)]
pub struct Servers(Vec<Server>);

impl Servers {
    /// Connects to all enabled servers at once and adds their tools to a registry. A server that fails is kept with its
    /// error and affects no other.
    ///
    /// Servers can ask for input only if there are `answers`. Dropping the future ends the servers that were started.
    pub async fn connect(
        servers: &McpServers,
        startable: &Startable,
        tools: &ToolRegistry,
        answers: Option<&ServerAnswers>,
    ) -> Self {
        Self::connect_to(servers.enabled().cloned().collect(), startable, tools, answers).await
    }

    /// Connects to these servers at once and adds their tools to a registry, as [`connect`](Self::connect) does.
    pub async fn connect_to(
        servers: Vec<NamedServer>,
        startable: &Startable,
        tools: &ToolRegistry,
        answers: Option<&ServerAnswers>,
    ) -> Self {
        let servers = servers.into_iter();
        let connecting: Vec<_> = servers
            .map(|server| open(server, startable.clone(), tools.clone(), answers.cloned()))
            .collect();
        Self(join_all(connecting).await)
    }

    /// Returns the servers, sorted by name.
    pub fn all(&self) -> &[Server] {
        &self.0
    }

    /// Returns the clients of the connected servers, sorted by name.
    pub fn clients(&self) -> impl Iterator<Item = &McpClient> {
        let connected = self.0.iter().filter_map(|server| server.connection.as_ref().ok());
        connected.map(|connected| &connected.client)
    }

    /// Returns the names of the connected servers.
    pub fn connected(&self) -> impl Iterator<Item = &str> {
        self.clients().map(McpClient::name)
    }

    /// Returns the client of a connected server.
    pub fn client(&self, name: &str) -> Option<&McpClient> {
        self.clients().find(|client| client.name() == name)
    }

    /// Returns a message for each server that is not connected and each tool that is not offered.
    pub fn warnings(&self) -> Vec<String> {
        let warnings = self.0.iter().flat_map(|server| {
            let name = &server.settings.name;
            match &server.connection {
                Ok(connected) => connected
                    .problems()
                    .map(|problem| format!("a tool of the MCP server {name} is not offered: {problem}"))
                    .collect(),
                Err(error) => vec![format!(
                    "the MCP server {name} is not available: {error}; run `agcore mcp doctor {name}`"
                )],
            }
        });
        warnings.collect()
    }

    /// Closes all connections and ends the servers that were started.
    pub async fn close(&self) {
        let connected = self.0.iter().filter_map(|server| server.connection.as_ref().ok());
        let closing: Vec<_> = connected.map(|connected| close(connected.client.clone())).collect();
        // Dropping the clients kills what has not ended by then.
        let _ = tokio::time::timeout(CLOSE_LIMIT, join_all(closing)).await;
    }
}

async fn close(client: McpClient) {
    client.close().await;
}

/// Returns the options of a client for a server.
pub fn options(server: &NamedServer) -> ClientOptions {
    let identity = Identity::new("agcore", env!("CARGO_PKG_VERSION"));
    server.entry.options().with_identity(identity)
}

async fn open(
    settings: NamedServer,
    startable: Startable,
    tools: ToolRegistry,
    answers: Option<ServerAnswers>,
) -> Server {
    let connection = connect(&settings, &startable, &tools, answers.as_ref()).await;
    Server { settings, connection }
}

async fn connect(
    server: &NamedServer,
    startable: &Startable,
    tools: &ToolRegistry,
    answers: Option<&ServerAnswers>,
) -> Result<Connected, McpError> {
    let line = server.command_line();
    startable
        .check(&line)
        .map_err(|reason| McpError::new(McpErrorKind::Config, format!("it was not started, because {reason}")))?;
    let transport = server.entry.transport(&server.name, &variable)?;
    let transport = match confined(server)? {
        Some(sandbox) => transport.with_sandbox(sandbox),
        None => transport,
    };
    let transport = transport.with_oauth(OAuth::new(Arc::new(StoredTokens::of_user())));
    // Nothing compares the files of a server when it is started again by itself.
    let options = match startable.runs_files(&line) {
        true => options(server),
        false => options(server).with_restart(Restart::default()),
    };
    let options = match answers {
        Some(answers) => answers.add_to(options),
        None => options,
    };
    let client = McpClient::connect_with(server.name.clone(), transport, options).await?;
    let options = ToolsetOptions::new().with_prefix(server.prefix());
    let toolset = client.register_into(tools, options).await?;
    Ok(Connected { client, toolset })
}

/// Returns the sandbox of a server, or `None` if it is not confined.
fn confined(server: &NamedServer) -> Result<Option<Sandbox>, McpError> {
    let Some(settings) = server.sandbox.as_ref().filter(|_| server.entry.command.is_some()) else {
        return Ok(None);
    };
    let refused = |reason: String| McpError::new(McpErrorKind::Config, format!("it was not started, because {reason}"));
    let folder = Path::new(".").canonicalize();
    let folder = folder.map_err(|error| refused(format!("the current directory cannot be opened: {error}")))?;
    command_sandbox(settings, &folder).own().map_err(refused)
}
