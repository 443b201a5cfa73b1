//! [`Connection`]: one connection to a server, from the start of its process to its end.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, PoisonError},
};

use agcore_chat::text::prefix;
use rmcp::{
    RoleClient,
    model::ProtocolVersion,
    service::{ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle},
    transport::Transport,
};
use tokio::{
    sync::Mutex,
    task::JoinHandle,
    time::{Instant, timeout},
};
use tokio_util::task::AbortOnDropHandle;

use super::{
    handler::Handler,
    listen::listen,
    options::{ClientOptions, Lifecycle},
    peer_info::PeerInfo,
    request::{Requests, closed, transport_error},
};
use crate::{
    error::{McpError, McpErrorKind, quote},
    process::{Process, Started},
    transport::{
        StdioTransport, Streams,
        lines::JsonLines,
        tap::{Channel, Link, Tap},
    },
};

/// The most of an answer that an error quotes, in bytes.
const ANSWER_BYTES: usize = 300;

/// One connection to a server. Dropping it kills the process of the server.
pub(crate) struct Connection {
    pub(crate) requests: Requests,
    pub(crate) info: PeerInfo,
    pub(crate) connected_at: Instant,
    service: Mutex<Option<RunningService<RoleClient, Handler>>>,
    /// The subscriptions to resources, by URI, of the revision without sessions.
    subscriptions: std::sync::Mutex<HashMap<String, AbortOnDropHandle<()>>>,
    /// Ends with the connection.
    _listener: Option<AbortOnDropHandle<()>>,
}

/// The values that connecting needs.
#[derive(Debug)]
pub(crate) struct Connector<'a> {
    pub(crate) server: &'a Arc<str>,
    pub(crate) options: &'a ClientOptions,
    pub(crate) handler: Handler,
}

impl Connector<'_> {
    /// Starts a process and connects to it.
    pub(crate) async fn stdio(self, transport: &StdioTransport) -> Result<Connection, McpError> {
        let first = self.start(transport, self.options.lifecycle).await;
        match first {
            // Some servers end when the first message is not `initialize`.
            Err(error) if self.options.lifecycle == Lifecycle::Negotiate && error.kind() == McpErrorKind::Closed => {
                tracing::debug!(server = &**self.server, %error, "the server is started again for the handshake");
                self.start(transport, Lifecycle::Handshake).await
            }
            result => result,
        }
    }

    async fn start(&self, transport: &StdioTransport, lifecycle: Lifecycle) -> Result<Connection, McpError> {
        let Started { process, stdin, stdout } = transport.start(self.server)?;
        let limit = self.options.max_message_bytes;
        let transport = JsonLines::new(stdout, stdin, limit);
        self.connect(transport, Channel::Shared, Some(Arc::new(process)), lifecycle)
            .await
    }

    /// Connects to a server over byte streams.
    pub(crate) async fn streams(self, streams: Streams) -> Result<Connection, McpError> {
        let limit = self.options.max_message_bytes;
        let Streams { read, write } = streams;
        let transport = JsonLines::new(read, write, limit);
        self.connect(transport, Channel::Shared, None, self.options.lifecycle)
            .await
    }

    /// Connects to a server over HTTP.
    #[cfg(feature = "client-http")]
    pub(crate) async fn http(self, transport: &crate::transport::HttpTransport) -> Result<Connection, McpError> {
        let settings = crate::transport::HttpSettings {
            connect: self.options.connect_timeout,
            max_message_bytes: self.options.max_message_bytes,
            tries_handshake: self.options.lifecycle == Lifecycle::Negotiate,
        };
        #[cfg(feature = "oauth")]
        if let Some(oauth) = transport.oauth() {
            let transport = transport.open_with(oauth, self.server, settings).await?;
            return self
                .connect(transport, Channel::PerRequest, None, self.options.lifecycle)
                .await;
        }
        let transport = transport.open(self.server, settings)?;
        self.connect(transport, Channel::PerRequest, None, self.options.lifecycle)
            .await
    }

    async fn connect<T: Transport<RoleClient> + 'static>(
        &self,
        transport: T,
        channel: Channel,
        process: Option<Arc<Process>>,
        lifecycle: Lifecycle,
    ) -> Result<Connection, McpError> {
        let link = Arc::new(Link::default());
        let tap = Tap::new(
            transport,
            Arc::clone(&link),
            process.clone(),
            self.options.close_timeout,
        )
        .with_channel(channel)
        .with_handshake(lifecycle == Lifecycle::Negotiate);
        // Kills the process if this future is dropped, or fails.
        let mut guard = KillGuard(process.clone());
        // Boxed because the compiler could not prove otherwise that the futures of callers are `Send`.
        let start: Pin<Box<dyn Future<Output = _> + Send>> =
            Box::pin(serve_client_with_lifecycle(self.handler.clone(), tap, mode(lifecycle)));
        let limit = self.options.connect_timeout;
        let service = match timeout(limit, start).await {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(self.connect_error(error, process.as_deref()).await),
            Err(_) => return Err(self.connect_timeout(process.as_deref())),
        };
        let Some(info) = service.peer_info() else {
            return Err(McpError::new(
                McpErrorKind::Protocol,
                format!("the MCP server {:?} did not introduce itself", self.server),
            ));
        };
        guard.0 = None;
        let listener = listen(service.peer().clone(), &info, self.handler.events());
        Ok(Connection {
            requests: Requests {
                server: Arc::clone(self.server),
                peer: service.peer().clone(),
                link,
                process,
                answerer: self.handler.answerer().clone(),
            },
            info: PeerInfo::new(&info),
            connected_at: Instant::now(),
            service: Mutex::new(Some(service)),
            subscriptions: std::sync::Mutex::default(),
            _listener: listener,
        })
    }

    fn connect_timeout(&self, process: Option<&Process>) -> McpError {
        let output = process
            .map(|process| process.stderr().text())
            .filter(|text| !text.is_empty());
        let output = output
            .map(|text| format!("; its last output on stderr: {text}"))
            .unwrap_or_default();
        McpError::new(
            McpErrorKind::Timeout,
            format!(
                "the MCP server {:?} did not answer within {:?}; check that it speaks the Model Context Protocol on \
                 stdout{output}",
                self.server, self.options.connect_timeout
            ),
        )
    }

    async fn connect_error(&self, error: ClientInitializeError, process: Option<&Process>) -> McpError {
        use ClientInitializeError as E;
        let server = self.server;
        let error = match error {
            E::LegacyFallbackFailed { discover, fallback } => {
                let error = Box::pin(self.connect_error(*fallback, process)).await;
                return with_probe(error, &discover);
            }
            other => other,
        };
        let (kind, reason) = match &error {
            E::TransportError { error: cause, .. } if process.is_none() => {
                return transport_error(server, "the first request", cause);
            }
            E::ConnectionClosed(_) | E::TransportError { .. } => {
                return closed(server, process, "before the connection was established")
                    .await
                    .with_source(error);
            }
            E::NoCompatibleProtocolVersion { server_supported, .. } => {
                let versions: Vec<_> = server_supported.iter().map(ProtocolVersion::as_str).collect();
                let versions = quote(&versions.join(", "));
                (
                    McpErrorKind::Unsupported,
                    format!("it speaks other revisions of the protocol: {versions}"),
                )
            }
            E::JsonRpcError(data) => {
                return McpError::from_response(server, "the first request", data.code.0, &data.message)
                    .with_source(error);
            }
            E::ExpectedInitResult(result) => {
                let result = result.as_ref().and_then(|result| serde_json::to_string(result).ok());
                let result = quote(prefix(&result.unwrap_or_default(), ANSWER_BYTES));
                (
                    McpErrorKind::Protocol,
                    format!("it answered initialize with `{result}`"),
                )
            }
            other => (McpErrorKind::Protocol, quote(&other.to_string())),
        };
        McpError::new(kind, format!("the MCP server {server:?} cannot be connected: {reason}")).with_source(error)
    }
}

/// Adds why the server did not say which revisions it speaks, if that is not the same reason, or just unknown to it.
fn with_probe(error: McpError, discover: &ClientInitializeError) -> McpError {
    let ClientInitializeError::JsonRpcError(data) = discover else {
        return error;
    };
    let reason = quote(prefix(&data.message, ANSWER_BYTES));
    if error.message().contains(&reason) || reason.to_ascii_lowercase().contains("method not found") {
        return error;
    }
    let message = format!("{}; before, server/discover failed: {reason}", error.message());
    McpError::new(error.kind(), message).with_source(error)
}

/// Returns the library's form of a lifecycle.
fn mode(lifecycle: Lifecycle) -> ClientLifecycleMode {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match lifecycle {
        Lifecycle::Negotiate => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
        Lifecycle::Handshake => ClientLifecycleMode::Initialize,
        Lifecycle::Stateless => ClientLifecycleMode::Discover { preferred_versions },
    }
}

/// Kills a process on drop.
struct KillGuard(Option<Arc<Process>>);

impl Drop for KillGuard {
    fn drop(&mut self) {
        if let Some(process) = &self.0 {
            process.kill();
        }
    }
}

impl Connection {
    /// Returns whether the connection has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.requests.link.has_ended()
    }

    /// Keeps a subscription until it is removed or the connection is dropped. Replaces an earlier one.
    pub(crate) fn add_subscription(&self, uri: &str, task: JoinHandle<()>) {
        let mut subscriptions = self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        subscriptions.insert(uri.to_owned(), AbortOnDropHandle::new(task));
    }

    /// Ends a subscription.
    pub(crate) fn remove_subscription(&self, uri: &str) {
        self.subscriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(uri);
    }

    /// Closes the connection and ends the process of the server.
    pub(crate) async fn close(&self, options: &ClientOptions) {
        let service = self.service.lock().await.take();
        if let Some(mut service) = service {
            // A panic of the task is an end like any other.
            let _ = service.close_with_timeout(options.close_timeout).await;
        }
        if let Some(process) = &self.requests.process {
            process.kill();
            let _ = timeout(options.close_timeout / 5, process.exited()).await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(process) = &self.requests.process {
            process.kill();
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("server", &self.requests.server)
            .finish_non_exhaustive()
    }
}
