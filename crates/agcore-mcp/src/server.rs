//! [`McpServer`]: a registry as an MCP server.

mod request_state;
mod rounds;
mod peer;
mod source;
mod kept;
mod settings;
mod offer;
mod call;
mod changes;
mod span;
mod handler;
mod until_end;
#[cfg(feature = "server-http")]
mod http;

use std::{fmt, sync::Arc};

use agcore_tools::{ToolContextBuilder, ToolPolicy, ToolRegistry, ToolSettings};
use rmcp::{ServiceExt as _, service::QuitReason};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

#[cfg(feature = "server-http")]
pub use self::http::HttpServerOptions;
use self::{handler::Handler, request_state::StateKey, settings::Settings, until_end::UntilEnd};
pub use self::{
    peer::McpPeer,
    source::{PromptSource, ResourceSource},
};
use crate::{
    error::{McpError, McpErrorKind},
    identity::Identity,
};

/// A registry as an MCP server: other programs list and call its tools.
///
/// Calls pass the same checks as the calls of a model: validation, the rules and the approver of the
/// [policy](Self::with_policy), timeouts and limits. Without a policy, the default rules apply. The list follows changes
/// of the registry, and clients are notified of them. Progress and cancellation work in both directions.
///
/// ```
/// use agcore_mcp::{McpClient, McpServer, McpTransport, ToolCallRequest};
/// use agcore_tools::{ToolRegistry, schemars::{self, JsonSchema}, typed};
///
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("add", "Adds two numbers.", |add: Add| async move { Ok(add.a + add.b) }))?;
/// let server = McpServer::new(tools);
///
/// // A program calls `server.serve_stdio().await`. Here, the client is in the same program.
/// let (ours, theirs) = tokio::io::duplex(4096);
/// let (read, write) = tokio::io::split(theirs);
/// tokio::spawn(async move { server.serve(read, write).await });
///
/// let (read, write) = tokio::io::split(ours);
/// let client = McpClient::connect("local", McpTransport::streams(read, write)).await?;
/// let call = ToolCallRequest::new("add").with_argument("a", 2).with_argument("b", 3);
/// let output = client.call_tool(call, |_| {}).await??;
/// assert_eq!(output.into_content(), Some("5".into()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct McpServer(Settings);

impl McpServer {
    /// Creates a server for the tools of a registry.
    pub fn new(registry: ToolRegistry) -> Self {
        Self(Settings::new(registry))
    }

    /// Sets the name and version that clients get to know.
    pub fn with_identity(mut self, identity: Identity) -> Self {
        self.0.identity = identity;
        self
    }

    /// Sets advice for models on using the server.
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.0.instructions = Some(instructions.into());
        self
    }

    /// Sets the rules, the approver and the grants that decide about calls.
    ///
    /// Without an approver, calls that need an approval are denied.
    pub fn with_policy(mut self, policy: ToolPolicy) -> Self {
        self.0.policy = policy;
        self
    }

    /// Sets the context of all calls: the clock, the actor, and the values that tools take with
    /// [`State`](agcore_tools::State). Progress and cancellation are added for each call.
    pub fn with_context(mut self, context: ToolContextBuilder) -> Self {
        self.0.context = context;
        self
    }

    /// Sets the timeout of calls (60 s by default), the redaction of results, and custom layers around calls.
    pub fn with_tool_settings(mut self, settings: ToolSettings) -> Self {
        self.0.calls = settings;
        self
    }

    /// Sets the secret that seals the state of requests in the revision 2026-07-28, which the client keeps between the
    /// questions of a call. See [`McpPeer`].
    ///
    /// Without a key, a call can ask once only. The key must be random. All processes that serve the same clients need the
    /// same key.
    pub fn with_state_key(mut self, key: [u8; 32]) -> Self {
        self.0.state_key = Some(StateKey::new(key));
        self
    }

    /// Offers prompts.
    pub fn with_prompts(mut self, prompts: impl PromptSource + 'static) -> Self {
        self.0.prompts = Some(Arc::new(prompts));
        self
    }

    /// Offers resources.
    pub fn with_resources(mut self, resources: impl ResourceSource + 'static) -> Self {
        self.0.resources = Some(Arc::new(resources));
        self
    }

    /// Serves one client over stdin and stdout, until stdin ends.
    ///
    /// Nothing else may be written to stdout. Dropping the future ends the connection.
    ///
    /// # Errors
    /// When the client does not speak the protocol.
    pub async fn serve_stdio(&self) -> Result<(), McpError> {
        let (read, write) = rmcp::transport::stdio_pipes();
        self.serve(read, write).await
    }

    /// Serves one client over byte streams, one JSON message per line, until the stream that is read ends.
    ///
    /// Lines of more than 16 MiB are ignored. Dropping the future ends the connection.
    ///
    /// # Errors
    /// When the client does not speak the protocol.
    pub async fn serve(
        &self,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), McpError> {
        let failed = |error: &dyn fmt::Display| {
            let message = format!(
                "the MCP client cannot be served: {}",
                crate::error::quote(&error.to_string())
            );
            McpError::new(McpErrorKind::Protocol, message)
        };
        // The connection waits a few seconds for calls that still run, and would also wait for a client that listens.
        let ended = CancellationToken::new();
        let read = UntilEnd::new(read, ended.clone());
        let handler = Handler::new(Arc::new(self.0.clone())).with_end(ended);
        let running = match handler.serve((read, write)).await {
            Ok(running) => running,
            // A client that only looks whether the server starts.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(failed(&error).with_source(error)),
        };
        match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => Err(failed(&error).with_source(error)),
            Ok(_) => Ok(()),
        }
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("identity", &self.0.identity)
            .field("registry", &self.0.registry)
            .finish_non_exhaustive()
    }
}
