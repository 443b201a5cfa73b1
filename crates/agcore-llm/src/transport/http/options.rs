//! [`HttpOptions`]: what an HTTP transport needs to know.

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::credential::{Credential, KeyHeader, Secret, SecretGuard};
use agcore_wire::{LlmError, LlmErrorKind};

use super::{proxy::Proxy, timeouts::Timeouts};

/// What an HTTP transport needs to know.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// What stands before the path of every request.
    pub base_url: String,
    /// What the server is shown so that it answers.
    pub credential: Credential,
    /// Where the key stands.
    pub key_header: KeyHeader,
    /// How long each part may take.
    pub timeouts: Timeouts,
    /// More headers for every request; those of a single request stand over them.
    pub headers: Vec<(String, Secret)>,
    /// Through what requests go out.
    pub proxy: Proxy,
}

impl HttpOptions {
    /// Requests to this base URL, without credential.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            credential: Credential::None,
            key_header: KeyHeader::Bearer,
            timeouts: Timeouts::default(),
            headers: Vec::new(),
            proxy: Proxy::None,
        }
    }

    /// Sets what the server is shown.
    pub fn with_credential(mut self, credential: Credential) -> Self {
        self.credential = credential;
        self
    }

    /// Sets where the key stands.
    pub fn with_key_header(mut self, header: KeyHeader) -> Self {
        self.key_header = header;
        self
    }

    /// Sets how long each part may take.
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Adds a header to every request.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets through what requests go out.
    pub fn with_proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = proxy;
        self
    }
}

/// Headers that belong to the connection, not to the caller.
const RESERVED: [HeaderName; 6] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
    header::TE,
];

/// Reads headers of settings; what may hold a key is kept out of logs and errors.
///
/// # Errors
/// `InvalidRequest` that names the header, never its value.
pub(super) fn read_headers(
    headers: &[(String, Secret)],
    taken: Option<&HeaderName>,
    guard: &SecretGuard,
) -> Result<HeaderMap, LlmError> {
    let mut map = HeaderMap::with_capacity(headers.len());
    for (name, text) in headers {
        let invalid = |why: &str| LlmError::new(LlmErrorKind::InvalidRequest, format!("the header {name:?} {why}"));
        let name = HeaderName::try_from(name.as_str()).map_err(|_| invalid("has a name that no header can have"))?;
        if RESERVED.contains(&name) {
            return Err(invalid("belongs to the connection and cannot be set"));
        }
        if Some(&name) == taken {
            return Err(invalid("is the credential's; set one of them only"));
        }
        let mut value = HeaderValue::from_str(text.expose())
            .map_err(|_| invalid("has a value with a line end or another character that no header can have"))?;
        if may_be_secret(&name) {
            value.set_sensitive(true);
            guard.learn(text);
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

    fn read(name: &str, value: &str) -> Result<HeaderMap, LlmError> {
        read_headers(
            &[(name.into(), value.into())],
            Some(&header::AUTHORIZATION),
            &SecretGuard::new(),
        )
    }

    #[test]
    fn headers_are_read() {
        let headers = read("X-Api-Key", "hunter2").unwrap();
        assert_eq!(headers["x-api-key"], "hunter2");
        assert!(headers["x-api-key"].is_sensitive());
        assert!(!read("http-referer", "https://app.example").unwrap()["http-referer"].is_sensitive());
    }

    #[test]
    fn what_is_no_header_is_refused() {
        let check = |name: &str, value: &str, part: &str| {
            let error = read(name, value).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        };
        check("x y", "hunter2", "has a name");
        check("", "hunter2", "has a name");
        check("x-a", "a\r\nx-admin: hunter2", "line end");
        check("Host", "hunter2.example", "belongs to the connection");
        check("Content-Length", "7", "belongs to the connection");
        check("Authorization", "Bearer hunter2", "the credential's");
    }
}
