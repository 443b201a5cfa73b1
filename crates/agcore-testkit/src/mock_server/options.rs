//! What a server is besides its behaviour.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::behaviour::Behaviour;

/// Settings of a [`MockServer`](super::MockServer). The defaults: any free port of 127.0.0.1, no key, any model, the
/// OpenAI-like APIs under `/v1`, the vendors' rules on requests enforced, every request kept.
///
/// ```
/// use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply};
///
/// let options = MockOptions::new()
///     .with_key("sk-test")
///     .with_models(["small", "large"])
///     .with_route("GET", "/v1/models", |_: &RecordedRequest| Reply::html(200, "<html>Welcome</html>"));
/// # let _ = options;
/// ```
#[non_exhaustive]
pub struct MockOptions {
    pub(crate) address: SocketAddr,
    pub(crate) key: Option<String>,
    pub(crate) models: Option<Vec<String>>,
    pub(crate) prefixes: Vec<String>,
    pub(crate) judging: bool,
    pub(crate) recording: bool,
    pub(crate) routes: Vec<Route>,
}

/// A path with a behaviour of its own.
pub(crate) struct Route {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) behaviour: Box<dyn Behaviour>,
}

impl MockOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            key: None,
            models: None,
            prefixes: vec!["/v1".to_owned()],
            judging: true,
            recording: true,
            routes: Vec::new(),
        }
    }

    /// Listens on this port of 127.0.0.1; 0 is any free one.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> Self {
        self.address.set_port(port);
        self
    }

    /// Refuses requests without this key (as bearer token, `x-api-key` or `api-key`) with a 401.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Lists these models and refuses others with a 404. Without this, any model is taken and one is listed.
    #[must_use]
    pub fn with_models<S: Into<String>>(mut self, models: impl IntoIterator<Item = S>) -> Self {
        self.models = Some(models.into_iter().map(Into::into).collect());
        self
    }

    /// Adds one model to those that are listed and taken.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.models.get_or_insert_default().push(model.into());
        self
    }

    /// Serves the OpenAI-like APIs under this path, too (`/compatible-mode/v1`, `/openai/deployments/x`).
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefixes.push(prefix.into());
        self
    }

    /// Takes requests that the vendor would refuse (an empty list of tools, a result without its call, …).
    #[must_use]
    pub fn without_judging(mut self) -> Self {
        self.judging = false;
        self
    }

    /// Keeps no requests: for a server that runs long.
    #[must_use]
    pub fn without_recording(mut self) -> Self {
        self.recording = false;
        self
    }

    /// Answers this method and path by a behaviour of its own, before anything else is looked at.
    #[must_use]
    pub fn with_route(mut self, method: impl Into<String>, path: impl Into<String>, behaviour: impl Behaviour) -> Self {
        self.routes.push(Route {
            method: method.into(),
            path: path.into(),
            behaviour: Box::new(behaviour),
        });
        self
    }

    /// The listed models.
    pub(crate) fn listed(&self) -> Vec<String> {
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
            .field("judging", &self.judging)
            .field("recording", &self.recording)
            .field("routes", &routes)
            .finish()
    }
}
