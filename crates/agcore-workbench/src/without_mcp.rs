//! MCP servers in a program without the feature `mcp`: none is connected, and a warning names those that would be.

/// Connections to the MCP servers of the settings.
pub mod mcp {
    use std::convert::Infallible;

    use agcore::{mcp::McpError, tools::ToolRegistry};
    use agcore_settings::{McpServers, NamedServer, trust::Startable};

    use super::server_answers::ServerAnswers;

    /// A server of the settings. There are none: no server is connected.
    #[derive(Debug)]
    pub struct Server {
        /// How it is reached.
        pub settings: NamedServer,
        /// The connection, or why there is none.
        pub connection: Result<Infallible, McpError>,
    }

    /// The names of the MCP servers that would be connected.
    #[derive(Debug, Default)]
    pub struct Servers(Vec<String>);

    impl Servers {
        /// Notes the names of the enabled servers, and connects to none.
        pub async fn connect(servers: &McpServers, _: &Startable, _: &ToolRegistry, _: Option<&ServerAnswers>) -> Self {
            Self(servers.enabled().map(|server| server.name.clone()).collect())
        }

        /// Returns no servers.
        pub fn all(&self) -> &[Server] {
            &[]
        }

        /// Returns no names: no server is connected.
        pub fn connected(&self) -> impl Iterator<Item = &str> {
            std::iter::empty()
        }

        /// Returns a message that names the servers, if there are any.
        pub fn warnings(&self) -> Vec<String> {
            if self.0.is_empty() {
                return Vec::new();
            }
            vec![format!(
                "the MCP servers of the settings are not connected ({}): this build has no MCP; `agcore mcp list` shows how to get it",
                self.0.join(", ")
            )]
        }

        /// Does nothing.
        pub async fn close(&self) {}
    }
}

/// Questions of MCP servers to the user: a build without MCP never asks any.
pub mod server_answers {
    use tokio::sync::mpsc;

    /// The receiver of the questions of all servers: none arrives.
    pub type ServerQuestions = mpsc::UnboundedReceiver<ServerQuestion>;

    /// A question of an MCP server, which cannot exist.
    #[derive(Debug)]
    pub enum ServerQuestion {}

    impl ServerQuestion {
        /// Returns whether the answer is no longer awaited.
        pub fn is_abandoned(&self) -> bool {
            match *self {}
        }
    }

    /// The answers of the user, which are never asked for.
    #[derive(Debug, Clone)]
    pub struct ServerAnswers(());

    impl ServerAnswers {
        /// Creates the answers and the receiver of the questions.
        pub fn new(_: Vec<String>) -> (Self, ServerQuestions) {
            (Self(()), mpsc::unbounded_channel().1)
        }
    }
}
