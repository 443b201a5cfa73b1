//! A server over Streamable HTTP.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService, streamable_http_server::session::local::LocalSessionManager,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{McpServer, handler::Handler};
use crate::error::{McpError, McpErrorKind};

/// The longest time for a client to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest time for connections to end after the server was stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// The pause after the operating system refused a connection, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The settings of a server over HTTP.
///
/// By default, only programs on the same machine are served: requests need a `Host` header with a loopback name, and
/// requests of web pages, which have an `Origin` header, are refused.
///
/// ```
/// use agcore_mcp::HttpServerOptions;
///
/// let options = HttpServerOptions::new().with_bearer("secret-token").with_allowed_hosts(["mcp.example.org"]);
/// assert!(!format!("{options:?}").contains("secret-token"));
/// ```
#[derive(Clone)]
#[must_use]
#[non_exhaustive]
pub struct HttpServerOptions {
    /// The path of the endpoint; `/mcp` by default.
    pub path: String,
    /// The names that the `Host` header may have, with or without a port.
    pub allowed_hosts: Vec<String>,
    /// The origins of web pages that may use the server; none by default.
    pub allowed_origins: Vec<String>,
    /// The largest body of a request, in bytes; 4 MiB by default.
    pub max_body_bytes: usize,
    /// The largest number of sessions; 1000 by default. More are answered with status 503.
    pub max_sessions: usize,
    /// The largest number of connections; 1000 by default. More wait.
    pub max_connections: usize,
    /// How long a session may be idle; 5 min by default.
    pub session_timeout: Duration,
    bearer: Option<String>,
}

impl HttpServerOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the path of the endpoint.
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets the names that the `Host` header may have.
    pub fn with_allowed_hosts<T: Into<String>>(mut self, hosts: impl IntoIterator<Item = T>) -> Self {
        self.allowed_hosts = hosts.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the origins of web pages that may use the server, such as `https://app.example.org`.
    pub fn with_allowed_origins<T: Into<String>>(mut self, origins: impl IntoIterator<Item = T>) -> Self {
        self.allowed_origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// Requires the header `Authorization: Bearer` with this token.
    pub fn with_bearer(mut self, token: impl Into<String>) -> Self {
        self.bearer = Some(token.into());
        self
    }

    /// Sets the largest body of a request, in bytes.
    pub fn with_max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body_bytes = bytes;
        self
    }

    /// Sets the largest number of sessions.
    pub fn with_max_sessions(mut self, sessions: usize) -> Self {
        self.max_sessions = sessions;
        self
    }
}

impl Default for HttpServerOptions {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            allowed_hosts: ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into(),
            allowed_origins: Vec::new(),
            max_body_bytes: 4 * 1024 * 1024,
            max_sessions: 1000,
            max_connections: 1000,
            session_timeout: Duration::from_secs(300),
            bearer: None,
        }
    }
}

impl std::fmt::Debug for HttpServerOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpServerOptions")
            .field("path", &self.path)
            .field("allowed_hosts", &self.allowed_hosts)
            .field("allowed_origins", &self.allowed_origins)
            .field("bearer", &self.bearer.is_some())
            .finish_non_exhaustive()
    }
}

impl McpServer {
    /// Serves clients over Streamable HTTP until `stop` completes. Connections then have 5 s to end.
    ///
    /// TLS is not part of this; put a reverse proxy in front of the server to use it beyond the machine.
    ///
    /// # Errors
    /// When the path of the options does not begin with `/`.
    pub async fn serve_http(
        &self,
        listener: TcpListener,
        options: HttpServerOptions,
        stop: impl Future<Output = ()>,
    ) -> Result<(), McpError> {
        if !options.path.starts_with('/') {
            let message = format!("the path {:?} of an MCP server must begin with `/`", options.path);
            return Err(McpError::new(McpErrorKind::Config, message));
        }
        let endpoint = Arc::new(Endpoint::new(self, options));
        let connections = Arc::new(Semaphore::new(endpoint.options.max_connections.max(1)));
        let mut running = JoinSet::new();
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                accepted = accept(&listener, &connections) => match accepted {
                    Ok((stream, permit)) => {
                        let endpoint = Arc::clone(&endpoint);
                        running.spawn(async move {
                            endpoint.serve(stream).await;
                            drop(permit);
                        });
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection to the MCP server was not accepted");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
                Some(_) = running.join_next() => {}
            }
        }
        drop(listener);
        endpoint.stop.cancel();
        let ended = async { while running.join_next().await.is_some() {} };
        // The others are aborted when `running` is dropped.
        let _ = timeout(STOP_TIMEOUT, ended).await;
        Ok(())
    }
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let permit = Arc::clone(connections)
        .acquire_owned()
        .await
        .map_err(std::io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    // Answers are small, and a client waits for each.
    stream.set_nodelay(true)?;
    Ok((stream, permit))
}

/// The endpoint that all connections share.
struct Endpoint {
    options: HttpServerOptions,
    service: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    stop: CancellationToken,
}

/// The body of a response.
type Body = BoxBody<Bytes, Infallible>;

impl Endpoint {
    fn new(server: &McpServer, options: HttpServerOptions) -> Self {
        let stop = CancellationToken::new();
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(options.allowed_hosts.iter().cloned())
            .with_allowed_origins(options.allowed_origins.iter().cloned())
            .enforce_origin_validation()
            .with_max_request_body_bytes(options.max_body_bytes)
            .with_cancellation_token(stop.clone());
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(options.session_timeout);
        let sessions = Arc::new(sessions);
        let settings = Arc::new(server.0.clone());
        let handler = move || Ok(Handler::new(Arc::clone(&settings)));
        let service = StreamableHttpService::new(handler, Arc::clone(&sessions), config);
        Self {
            options,
            service,
            sessions,
            stop,
        }
    }

    async fn serve(self: Arc<Self>, stream: TcpStream) {
        let stop = self.stop.clone();
        let service = service_fn(move |request| {
            let endpoint = Arc::clone(&self);
            async move { Ok::<_, Infallible>(endpoint.answer(request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let result = tokio::select! {
            result = &mut connection => result,
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = result {
            tracing::debug!(%error, "a connection to the MCP server ended early");
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if request.uri().path() != self.options.path {
            return refusal(StatusCode::NOT_FOUND, "there is nothing at this path");
        }
        if !self.is_authorized(&request) {
            let mut response = refusal(StatusCode::UNAUTHORIZED, "a valid bearer token is required");
            let challenge = header::HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            return response;
        }
        let is_new = !request.headers().contains_key("mcp-session-id");
        if is_new && self.sessions.sessions.read().await.len() >= self.options.max_sessions {
            return refusal(
                StatusCode::SERVICE_UNAVAILABLE,
                "there are too many sessions; try again later",
            );
        }
        self.service.handle(request).await
    }

    fn is_authorized(&self, request: &Request<Incoming>) -> bool {
        let Some(expected) = &self.options.bearer else {
            return true;
        };
        let given = request
            .headers()
            .get(header::AUTHORIZATION)
            .map_or(&b""[..], |value| value.as_bytes());
        let Some((scheme, token)) = given.split_at_checked("Bearer ".len()) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"Bearer ") && is_equal(token, expected.as_bytes())
    }
}

/// Compares in a time that does not depend on where the values differ.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let difference = one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && difference == 0
}

fn refusal(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}
