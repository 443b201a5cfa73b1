//! [`HttpTransport`]: a server over Streamable HTTP.

mod events;
mod failure;
mod session;
mod post;
mod response;
mod client;

use std::{collections::HashMap, error::Error, fmt, sync::Arc, time::Duration};

use http::{HeaderName, HeaderValue};
use rmcp::transport::{
    StreamableHttpClientTransport, common::client_side_sse::ExponentialBackoff,
    streamable_http_client::StreamableHttpClientTransportConfig,
};
use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;
use url::Url;

use self::client::HttpClient;
pub(crate) use self::failure::http_error;
use crate::error::{McpError, McpErrorKind, quote};

/// The number of times in a row that a broken stream is resumed.
const MAX_RESUMPTIONS: usize = 8;

/// The longest wait before a stream is resumed.
const MAX_RESUMPTION_DELAY: Duration = Duration::from_secs(30);

/// The settings of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// The time to establish a connection of TCP and TLS.
    pub(crate) connect: Duration,
    pub(crate) max_message_bytes: usize,
    /// Whether the handshake is tried after any failure of the question for the revisions.
    pub(crate) tries_handshake: bool,
}

/// A server over Streamable HTTP.
///
/// Redirects are not followed, so that keys stay with the host that was configured. An answer that breaks off is resumed
/// where it ended, if the server supports it. When the server has forgotten the session, a new one is made once, and the
/// request that the server refused for that reason is sent in it; requests that the server may have carried out are never
/// repeated. An answer that is not a message of the protocol fails its request at once, with the status and the beginning of
/// the text.
///
/// ```
/// use agcore_mcp::HttpTransport;
///
/// let transport = HttpTransport::new("https://mcp.example.org/mcp")?.with_bearer("secret-token")?;
/// assert!(!format!("{transport:?}").contains("secret-token"));
/// # Ok::<(), agcore_mcp::McpError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct HttpTransport {
    url: Url,
    headers: HashMap<HeaderName, HeaderValue>,
    bearer: Option<String>,
    #[cfg(feature = "oauth")]
    oauth: Option<crate::oauth::OAuth>,
}

impl HttpTransport {
    /// Creates a transport for a URL, usually one that ends in `/mcp`.
    ///
    /// # Errors
    /// When it is not a URL with `http` or `https`, or contains a user name or password.
    pub fn new(url: &str) -> Result<Self, McpError> {
        let invalid = |reason: &str| {
            let message = format!("the URL of an MCP server cannot be used: {reason}");
            McpError::new(McpErrorKind::Config, message)
        };
        let url = Url::parse(url).map_err(|error| invalid(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid("it must begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("it contains a user name or password; use a header instead"));
        }
        Ok(Self {
            url,
            headers: HashMap::new(),
            bearer: None,
            #[cfg(feature = "oauth")]
            oauth: None,
        })
    }

    /// Sets a header of all requests.
    ///
    /// # Errors
    /// When the name or the value is not valid in a header.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self, McpError> {
        let parsed = HeaderName::from_bytes(name.as_bytes()).ok();
        let (Some(name), Ok(mut value)) = (parsed, HeaderValue::from_str(value)) else {
            let message = format!(
                "the header {:?} of an MCP server is not valid: check its name and value",
                quote(name)
            );
            return Err(McpError::new(McpErrorKind::Config, message));
        };
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Sets the token of the header `Authorization: Bearer`.
    ///
    /// # Errors
    /// When the token is not valid in a header, such as one with a line break.
    pub fn with_bearer(mut self, token: impl Into<String>) -> Result<Self, McpError> {
        let token = token.into();
        if HeaderValue::from_str(&token).is_err() {
            let message =
                "the bearer token of an MCP server is not valid in a header: check that it has no line breaks";
            return Err(McpError::new(McpErrorKind::Config, message));
        }
        self.bearer = Some(token);
        Ok(self)
    }

    /// Obtains tokens with OAuth when the server asks for them. Takes the place of a bearer token.
    #[cfg(feature = "oauth")]
    pub fn with_oauth(mut self, oauth: crate::oauth::OAuth) -> Self {
        self.bearer = None;
        self.oauth = Some(oauth);
        self
    }

    /// Returns whether requests have an authorization of their own.
    #[cfg(feature = "oauth")]
    pub(crate) fn is_authorized(&self) -> bool {
        self.bearer.is_some() || self.headers.contains_key(&http::header::AUTHORIZATION)
    }

    /// Returns how tokens are obtained.
    #[cfg(feature = "oauth")]
    pub(crate) fn oauth(&self) -> Option<&crate::oauth::OAuth> {
        self.oauth.as_ref()
    }

    /// Opens the transport.
    pub(crate) fn open(
        &self,
        server: &str,
        settings: Settings,
    ) -> Result<StreamableHttpClientTransport<HttpClient>, McpError> {
        let client = HttpClient::new(Self::client(server, settings.connect)?, settings.tries_handshake);
        let config = self.config(settings.max_message_bytes);
        Ok(StreamableHttpClientTransport::with_client(client, config))
    }

    /// Opens the transport with the tokens that are stored for the server.
    #[cfg(feature = "oauth")]
    pub(crate) async fn open_with(
        &self,
        oauth: &crate::oauth::OAuth,
        server: &str,
        settings: Settings,
    ) -> Result<StreamableHttpClientTransport<crate::oauth::AuthorizedClient<HttpClient>>, McpError> {
        let plain = Self::client(server, settings.connect)?;
        let client = HttpClient::new(plain.clone(), settings.tries_handshake);
        let client = crate::oauth::AuthorizedClient::new(server, &self.url, oauth, client, plain).await;
        let client = client.map_err(|error| {
            let reason = failure::authorization_reason(&error);
            let message = format!("the client of the MCP server {server:?} cannot be authorized: {reason}");
            McpError::new(McpErrorKind::Unauthorized, message).with_source(error)
        })?;
        let config = self.config(settings.max_message_bytes);
        Ok(StreamableHttpClientTransport::with_client(client, config))
    }

    fn client(server: &str, connect: Duration) -> Result<reqwest::Client, McpError> {
        client(connect).map_err(|error| {
            let message = format!(
                "the HTTP client for the MCP server {server:?} cannot be set up: {error}; install the \
                                   trusted certificates of the platform (often a package named ca-certificates)"
            );
            McpError::new(McpErrorKind::Config, message)
        })
    }

    fn config(&self, bytes: usize) -> StreamableHttpClientTransportConfig {
        let mut backoff = ExponentialBackoff::default();
        backoff.max_times = Some(MAX_RESUMPTIONS);
        backoff.max_delay = Some(MAX_RESUMPTION_DELAY);
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str())
            .custom_headers(self.headers.clone())
            .max_sse_event_size(bytes)
            .max_json_response_size(bytes)
            .reinit_on_expired_session(true);
        config.retry_config = Arc::new(backoff);
        config.auth_header.clone_from(&self.bearer);
        config
    }
}

/// Makes a client that uses ring and the platform's certificates, follows no redirect, and asks no proxy.
fn client(connect: Duration) -> Result<reqwest::Client, Box<dyn Error>> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .no_proxy()
        .connect_timeout(connect)
        // Nothing is sent twice behind the back of the protocol.
        .retry(reqwest::retry::never().max_retries_per_request(0));
    Ok(client.build().map_err(reqwest::Error::without_url)?)
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Paths and queries may contain keys.
        f.debug_struct("HttpTransport")
            .field("origin", &self.url.origin().ascii_serialization())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("bearer", &self.bearer.is_some())
            .finish_non_exhaustive()
    }
}
