//! [`HttpTransport`]: a server over Streamable HTTP.

use std::{collections::HashMap, error::Error, fmt, sync::Arc, time::Duration};

use http::{HeaderName, HeaderValue};
use rmcp::transport::{
    StreamableHttpClientTransport,
    common::client_side_sse::ExponentialBackoff,
    streamable_http_client::{
        AuthRequiredError, InsufficientScopeError, StreamableHttpClientTransportConfig, StreamableHttpError,
    },
};
use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;
use url::Url;

use crate::error::{McpError, McpErrorKind, quote};

/// The number of times in a row that a broken stream is resumed.
const MAX_RESUMPTIONS: usize = 8;

/// The longest wait before a stream is resumed.
const MAX_RESUMPTION_DELAY: Duration = Duration::from_secs(30);

/// A server over Streamable HTTP.
///
/// Redirects are not followed, so that keys stay with the host that was configured. An answer that breaks off is resumed
/// where it ended, if the server supports it. When the server has forgotten the session, a new one is made once, and the
/// request that the server refused for that reason is sent in it; requests that the server may have seen are never
/// repeated.
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

    /// Opens the transport, with a limit for connecting and one for the size of messages.
    pub(crate) fn open(
        &self,
        server: &str,
        (connect, bytes): (Duration, usize),
    ) -> Result<StreamableHttpClientTransport<reqwest::Client>, McpError> {
        let client = Self::client(server, connect)?;
        Ok(StreamableHttpClientTransport::with_client(client, self.config(bytes)))
    }

    /// Opens the transport with the tokens that are stored for the server.
    #[cfg(feature = "oauth")]
    pub(crate) async fn open_with(
        &self,
        oauth: &crate::oauth::OAuth,
        server: &str,
        (connect, bytes): (Duration, usize),
    ) -> Result<StreamableHttpClientTransport<crate::oauth::AuthorizedClient>, McpError> {
        let client = Self::client(server, connect)?;
        let client = crate::oauth::AuthorizedClient::new(server, &self.url, oauth, client).await;
        let client = client.map_err(|error| {
            let reason = authorization_reason(&error);
            let message = format!("the client of the MCP server {server:?} cannot be authorized: {reason}");
            McpError::new(McpErrorKind::Unauthorized, message).with_source(error)
        })?;
        Ok(StreamableHttpClientTransport::with_client(client, self.config(bytes)))
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

/// Describes a failure of HTTP. Returns `None` for other failures.
pub(crate) fn http_error(server: &str, what: &str, cause: &(dyn Error + 'static)) -> Option<McpError> {
    let mut next = Some(cause);
    let mut found = None;
    while let (Some(error), None) = (next, &found) {
        found = explain(error);
        next = error.source();
    }
    let (kind, reason) = found?;
    Some(McpError::new(
        kind,
        format!("{what} failed at the MCP server {server:?}: {reason}"),
    ))
}

fn explain(error: &(dyn Error + 'static)) -> Option<(McpErrorKind, String)> {
    if error.is::<AuthRequiredError>() || error.is::<InsufficientScopeError>() {
        let reason = "it requires authorization, or refuses the token: check the bearer token and its scopes";
        return Some((McpErrorKind::Unauthorized, reason.to_owned()));
    }
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>()? {
        StreamableHttpError::SessionExpired => {
            let reason = "it has forgotten the session, and a new one was refused";
            Some((McpErrorKind::Closed, reason.to_owned()))
        }
        StreamableHttpError::Client(error) => Some((McpErrorKind::Closed, innermost(error))),
        #[cfg(feature = "oauth")]
        StreamableHttpError::Auth(error) => Some((McpErrorKind::Unauthorized, authorization_reason(error))),
        StreamableHttpError::HttpStatus(status) => Some(status_error(status.status)),
        // Explained by their causes.
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => None,
        // The text begins with the status, if the answer has none of the forms of the protocol.
        StreamableHttpError::UnexpectedServerResponse(text) => Some(match status_in(text) {
            Some(code) => status_error(code),
            None => (McpErrorKind::Protocol, quote(text)),
        }),
        other => Some((McpErrorKind::Protocol, quote(&other.to_string()))),
    }
}

/// Explains why there is no token.
#[cfg(feature = "oauth")]
fn authorization_reason(error: &rmcp::transport::auth::AuthError) -> String {
    use rmcp::transport::auth::AuthError as E;

    match error {
        E::AuthorizationRequired => "a person has to sign in".to_owned(),
        E::TokenRefreshRejected(_) => {
            "its authorization server no longer accepts the sign-in; sign in again".to_owned()
        }
        // Its text may contain a URL with a key.
        E::HttpError(error) => format!("its authorization server cannot be reached: {}", innermost(error)),
        other => quote(&other.to_string()),
    }
}

/// Reads the status from a text that begins with `HTTP 404 Not Found`.
fn status_in(text: &str) -> Option<u16> {
    text.strip_prefix("HTTP ")?.get(..3)?.parse().ok()
}

fn status_error(code: u16) -> (McpErrorKind, String) {
    match code {
        401 | 403 => (
            McpErrorKind::Unauthorized,
            format!("it answered with HTTP status {code}: check the bearer token"),
        ),
        300..=399 => (
            McpErrorKind::Protocol,
            format!(
                "it redirects (HTTP status {code}), and redirects are not followed, so that keys stay with its host; \
                     configure the URL that it redirects to"
            ),
        ),
        404 => (
            McpErrorKind::Protocol,
            "it answered with HTTP status 404: check the path of the URL, which is often /mcp".to_owned(),
        ),
        _ => (McpErrorKind::Protocol, format!("it answered with HTTP status {code}")),
    }
}

/// Returns the text of the innermost cause, which does not contain the URL.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    if last.is::<reqwest::Error>() {
        "the request failed".to_owned()
    } else {
        quote(&last.to_string())
    }
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
