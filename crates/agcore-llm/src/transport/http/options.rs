//! [`HttpOptions`]: the settings of an HTTP transport.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::credential::{Credential, KeyHeader, Secret, SecretGuard};
use agcore_wire::{LlmError, LlmErrorKind};

use super::{http_client::HttpClient, proxy::Proxy, timeouts::Timeouts, tls::TlsOptions};

/// The settings of an HTTP transport.
///
/// A client of the application cannot be passed in, because its type would tie the versions of this crate to those of the
/// client. Implement [`Transport`](crate::transport::Transport) to use another one.
///
/// ```
/// use std::time::Duration;
/// use agcore_llm::{
///     credential::{Credential, KeyHeader},
///     transport::http::{HttpOptions, HttpTransport, Proxy, Timeouts},
/// };
///
/// let options = HttpOptions::new("http://localhost:8000/v1")
///     .with_credential(Credential::key("key-of-the-gateway"))
///     .with_key_header(KeyHeader::Named("api-key".parse()?))
///     .with_header("x-team", "search")
///     .with_timeouts(Timeouts::new().with_total(Duration::from_secs(30)))
///     .with_proxy(Proxy::None);
/// assert!(!format!("{options:?}").contains("key-of-the-gateway"));
/// HttpTransport::new(options)?;
///
/// let error = HttpTransport::new(HttpOptions::new("localhost:8000")).unwrap_err();
/// assert_eq!(error.message(), "invalid base URL: http:// or https:// is missing; did you mean http://localhost:8000?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The URL that the path of every request is appended to.
    pub base_url: String,
    /// The credential that authenticates requests.
    pub credential: Credential,
    /// The header that contains the key. Tokens are bearer tokens unless the [credential](Credential::token_in) names
    /// another header.
    pub key_header: KeyHeader,
    /// The time limits of an exchange.
    pub timeouts: Timeouts,
    /// Headers that are added to every request. Headers of a single request take precedence.
    pub headers: Vec<(String, Secret)>,
    /// The proxy that requests are sent through.
    pub proxy: Proxy,
    /// The certificates of TLS connections.
    pub tls: TlsOptions,
    /// The library that sends requests.
    pub client: HttpClient,
    /// The address of the server; without one, the name of its host is resolved.
    pub address: Option<IpAddr>,
    /// Whether redirects are returned as replies. By default, they are errors.
    pub returns_redirects: bool,
    /// Whether the log has the paths of requests, at the level `debug`. By default, it has; queries are never there.
    pub logs_paths: bool,
}

impl HttpOptions {
    /// Creates settings for this base URL, without a credential.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            credential: Credential::None,
            key_header: KeyHeader::Bearer,
            timeouts: Timeouts::default(),
            headers: Vec::new(),
            proxy: Proxy::None,
            tls: TlsOptions::default(),
            client: HttpClient::default(),
            address: None,
            returns_redirects: false,
            logs_paths: true,
        }
    }

    /// Sets the address of the server, so that its name is not resolved. A program that accepts only some addresses resolves the
    /// name itself and connects to the address that it has checked. The certificate must still be that of the name. Without effect
    /// on connections through a proxy.
    #[must_use]
    pub fn with_address(mut self, address: IpAddr) -> Self {
        self.address = Some(address);
        self
    }

    /// Returns redirects as replies, for a caller that decides about each of them. They are not followed.
    #[must_use]
    pub fn with_redirects_returned(mut self) -> Self {
        self.returns_redirects = true;
        self
    }

    /// Keeps the paths of requests out of the log, for URLs whose path is a secret.
    #[must_use]
    pub fn with_hidden_paths(mut self) -> Self {
        self.logs_paths = false;
        self
    }

    /// Sets the credential that authenticates requests.
    #[must_use]
    pub fn with_credential(mut self, credential: Credential) -> Self {
        self.credential = credential;
        self
    }

    /// Sets the header that contains the key.
    #[must_use]
    pub fn with_key_header(mut self, header: KeyHeader) -> Self {
        self.key_header = header;
        self
    }

    /// Sets the time limits of an exchange.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Adds a header to every request.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the proxy that requests are sent through.
    #[must_use]
    pub fn with_proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = proxy;
        self
    }

    /// Sets the certificates of TLS connections.
    #[must_use]
    pub fn with_tls(mut self, tls: TlsOptions) -> Self {
        self.tls = tls;
        self
    }

    /// Sets the library that sends requests.
    #[must_use]
    pub fn with_client(mut self, client: HttpClient) -> Self {
        self.client = client;
        self
    }
}

/// Headers that the connection sets, not the caller.
const RESERVED: [HeaderName; 6] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
    header::TE,
];

/// Parses the headers of settings. Values that may be secret are kept out of logs and errors.
///
/// `credential` is the header that the credential is sent in.
///
/// # Errors
/// `InvalidRequest`, with the name of the header and without its value.
pub(super) fn parse_headers(
    headers: &[(String, Secret)],
    credential: Option<&HeaderName>,
    guard: &SecretGuard,
) -> Result<HeaderMap, LlmError> {
    let mut map = HeaderMap::with_capacity(headers.len());
    for (name, text) in headers {
        let invalid = |reason: &str| {
            let message = format!("invalid header {name:?}: {reason}");
            LlmError::new(LlmErrorKind::InvalidRequest, message)
        };
        let name = HeaderName::try_from(name.as_str())
            .map_err(|_| invalid("the name is empty or contains a character that is not allowed"))?;
        if RESERVED.contains(&name) {
            return Err(invalid("it is set by the connection; remove it"));
        }
        if Some(&name) == credential {
            return Err(invalid("it contains the credential already; set only one of them"));
        }
        let mut value = HeaderValue::from_str(text.expose())
            .map_err(|_| invalid("the value contains a line break or another character that is not allowed"))?;
        if may_be_secret(&name) {
            value.set_sensitive(true);
            guard.add(text);
        }
        map.insert(name, value);
    }
    Ok(map)
}

fn may_be_secret(name: &HeaderName) -> bool {
    ["auth", "key", "token", "secret", "cookie"]
        .iter()
        .any(|part| name.as_str().contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, value: &str) -> Result<HeaderMap, LlmError> {
        parse_headers(
            &[(name.into(), value.into())],
            Some(&header::AUTHORIZATION),
            &SecretGuard::new(),
        )
    }

    #[test]
    fn marks_values_that_may_be_secret() {
        let headers = parse("X-Api-Key", "hunter2").unwrap();
        assert_eq!(headers["x-api-key"], "hunter2");
        assert!(headers["x-api-key"].is_sensitive());
        assert!(!parse("http-referer", "https://app.example").unwrap()["http-referer"].is_sensitive());
    }

    #[test]
    fn rejects_invalid_headers() {
        let check = |name: &str, value: &str, part: &str| {
            let error = parse(name, value).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        };
        check("x y", "hunter2", "the name is empty or");
        check("", "hunter2", "the name is empty or");
        check("x-a", "a\r\nx-admin: hunter2", "line break");
        check("Host", "hunter2.example", "set by the connection");
        check("Content-Length", "7", "set by the connection");
        check("Authorization", "Bearer hunter2", "the credential already");
    }
}
