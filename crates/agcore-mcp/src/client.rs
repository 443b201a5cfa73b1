//! [`McpClient`]: a connection to a server, and its requests.

pub(crate) mod options;
mod peer_info;
mod event;
mod answer;
mod handler;
mod repair;
mod request;
mod remote_tool;
mod connection;
mod listen;
mod reconnect;
mod input;
mod list;
mod tools;
mod lists;

use std::{fmt, sync::Arc};

pub(crate) use self::reconnect::Shared;
use self::request::Limits;
pub use self::{
    event::{ServerEvent, ServerEvents},
    options::{ClientOptions, Lifecycle, Restart},
    peer_info::PeerInfo,
    remote_tool::RemoteTool,
    tools::ToolCallRequest,
};
use crate::{error::McpError, transport::McpTransport};

/// A connection to an MCP server.
///
/// Cheap to clone; all clones share the connection. When the last one is dropped, tools that were registered from it
/// included, the process of the server is killed. [`close`](Self::close) ends it gracefully.
///
/// Every wait has a [limit](ClientOptions). Requests run side by side, and a request that is dropped is cancelled at the
/// server. When the connection ends, all running requests fail at once, with the exit status of the server and the last
/// lines of its stderr. No request is ever sent a second time.
///
/// ```no_run
/// use agcore_mcp::{McpClient, McpError, StdioTransport, ToolsetOptions};
/// use agcore_tools::ToolRegistry;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), McpError> {
/// let server = StdioTransport::new("npx").with_args(["-y", "@modelcontextprotocol/server-everything"]);
/// let client = McpClient::connect("everything", server).await?;
///
/// let tools = ToolRegistry::new();
/// client.register_into(&tools, ToolsetOptions::new().with_prefix("everything_")).await?;
/// // Give `tools` to an agent.
///
/// client.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct McpClient(pub(crate) Arc<Shared>);

impl McpClient {
    /// Connects to a server with the default [options](ClientOptions). `name` identifies the server in errors, logs and
    /// permissions.
    ///
    /// # Errors
    /// When the program cannot be started, ends, does not answer in time, or speaks another protocol.
    ///
    /// # Cancel safety
    /// When the future is dropped, the process is killed.
    pub async fn connect(name: impl Into<String>, transport: impl Into<McpTransport>) -> Result<Self, McpError> {
        Self::connect_with(name, transport, ClientOptions::default()).await
    }

    /// Connects to a server.
    ///
    /// # Errors
    /// As for [`connect`](Self::connect).
    pub async fn connect_with(
        name: impl Into<String>,
        transport: impl Into<McpTransport>,
        options: ClientOptions,
    ) -> Result<Self, McpError> {
        let shared = Shared::connect(name.into(), transport.into(), options).await?;
        Ok(Self(Arc::new(shared)))
    }

    /// Returns the name of the server that was given to [`connect`](Self::connect).
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns what the server states about itself.
    pub fn server(&self) -> PeerInfo {
        self.0.current().info.clone()
    }

    /// Returns the options.
    pub fn options(&self) -> &ClientOptions {
        &self.0.options
    }

    /// Returns the events of the server from now on.
    pub fn events(&self) -> ServerEvents {
        self.0.events.subscribe()
    }

    /// Returns whether the connection has ended. With [`Restart`], the next request restarts it.
    pub fn is_closed(&self) -> bool {
        self.0.current().is_closed()
    }

    /// Asks the server for a sign of life.
    ///
    /// Servers of the revision 2026-07-28 do not know this request; for them, the list of tools is asked for instead.
    ///
    /// # Errors
    /// When there is no answer in time, or the connection has ended. Cancel safe.
    pub async fn ping(&self) -> Result<(), McpError> {
        let connection = self.0.connection().await?;
        if connection.info.is_stateless() {
            return self.list_tools().await.map(|_| ());
        }
        let request = rmcp::model::PingRequest::default();
        let limits = Limits::within(self.0.options.list_timeout);
        connection.requests.send("ping", request, limits, &mut |_| {}).await?;
        Ok(())
    }

    /// Closes the connection: stdin of the process is closed, and if the process does not end by itself, it is asked
    /// to, and then killed, all within [`close_timeout`](ClientOptions::close_timeout).
    ///
    /// Running requests fail. Later requests fail as well, even with [`Restart`].
    pub async fn close(&self) {
        self.0.close().await;
    }
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("name", &self.0.name)
            .field("is_closed", &self.is_closed())
            .finish()
    }
}
