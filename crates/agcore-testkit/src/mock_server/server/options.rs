//! [`MockOptions`]: the settings of a server.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::mock_server::behavior::Behavior;

/// The settings of a [`MockServer`](crate::mock_server::MockServer). By default, a server listens on a free port of
/// 127.0.0.1, requires no key, accepts any model, serves the OpenAI and Anthropic APIs under `/v1`, validates requests
/// against the vendors' rules, and records every request.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_testkit::mock_server::{MockOptions, MockServer, RecordedRequest, Reply, Script};
/// # use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
/// # async fn get(server: &MockServer, path: &str) -> String {
/// #     let mut client = TcpStream::connect(server.address()).await.unwrap();
/// #     let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
/// #     client.write_all(head.as_bytes()).await.unwrap();
/// #     let mut reply = String::new();
/// #     client.read_to_string(&mut reply).await.unwrap();
/// #     reply
/// # }
///
/// let options = MockOptions::new()
///     .with_key("sk-test")
///     .with_models(["small", "large"])
///     .with_route("GET", "/health", |_: &RecordedRequest| Reply::html(200, "<html>Welcome</html>"));
/// let server = MockServer::start_with(options, Script::new([])).await.unwrap();
///
/// // `get` is the client under test, which sends no key.
/// assert!(get(&server, "/health").await.ends_with("<html>Welcome</html>"));
/// assert!(get(&server, "/v1/models").await.starts_with("HTTP/1.1 401"));
/// # });
/// ```
#[non_exhaustive]
#[must_use]
pub struct MockOptions {
    pub(crate) address: SocketAddr,
    pub(crate) key: Option<String>,
    pub(crate) models: Option<Vec<String>>,
    pub(crate) prefixes: Vec<String>,
    pub(crate) validating: bool,
    pub(crate) recording: bool,
    pub(crate) routes: Vec<Route>,
}

/// A method and path with their own behavior.
pub(crate) struct Route {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) behavior: Box<dyn Behavior>,
}

impl MockOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self {
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            key: None,
            models: None,
            prefixes: vec!["/v1".to_owned()],
            validating: true,
            recording: true,
            routes: Vec::new(),
        }
    }

    /// Listens on this port of 127.0.0.1, or on a free one if it is 0.
    pub fn with_port(mut self, port: u16) -> Self {
        self.address.set_port(port);
        self
    }

    /// Requires this key as bearer token, `x-api-key` or `api-key`. Other requests are rejected with a 401.
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Lists these models and rejects requests for others with a 404. By default, any model is accepted and a single
    /// one named `mock-model` is listed.
    pub fn with_models<S: Into<String>>(mut self, models: impl IntoIterator<Item = S>) -> Self {
        self.models = Some(models.into_iter().map(Into::into).collect());
        self
    }

    /// Adds a model to those that are listed and accepted.
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.models.get_or_insert_default().push(model.into());
        self
    }

    /// Serves the OpenAI and Anthropic APIs under this path as well, for example `/compatible-mode/v1` or
    /// `/openai/deployments/x`.
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefixes.push(prefix.into());
        self
    }

    /// Accepts requests that the vendor would reject, such as an empty list of tools or a result without its call.
    pub fn without_validation(mut self) -> Self {
        self.validating = false;
        self
    }

    /// Does not record requests, for a long-running server.
    pub fn without_recording(mut self) -> Self {
        self.recording = false;
        self
    }

    /// Answers requests with this method and path using a separate behavior, bypassing all other checks.
    pub fn with_route(mut self, method: impl Into<String>, path: impl Into<String>, behavior: impl Behavior) -> Self {
        self.routes.push(Route {
            method: method.into(),
            path: path.into(),
            behavior: Box::new(behavior),
        });
        self
    }

    /// Returns the names of the models to list.
    pub(crate) fn listed_models(&self) -> Vec<String> {
        self.models.clone().unwrap_or_else(|| vec!["mock-model".to_owned()])
    }
}

impl Default for MockOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MockOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let routes: Vec<String> = self
            .routes
            .iter()
            .map(|route| format!("{} {}", route.method, route.path))
            .collect();
        f.debug_struct("MockOptions")
            .field("address", &self.address)
            .field("key", &self.key.as_ref().map(|_| "***"))
            .field("models", &self.models)
            .field("prefixes", &self.prefixes)
            .field("validating", &self.validating)
            .field("recording", &self.recording)
            .field("routes", &routes)
            .finish()
    }
}
