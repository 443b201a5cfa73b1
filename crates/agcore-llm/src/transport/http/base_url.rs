//! [`BaseUrl`]: the URL that the paths of requests are appended to.

use std::sync::{Arc, OnceLock};

use http::Uri;
use url::{Host, ParseError, Url};

use agcore_wire::{LlmError, LlmErrorKind};

/// The URL that the path of every request is appended to. Its query, if any, is appended after the path.
#[derive(Debug, Clone)]
pub(super) struct BaseUrl {
    /// Without trailing slash.
    prefix: String,
    query: Option<String>,
    origin: Arc<str>,
    url: Url,
    /// The first path that was joined. Nearly always, it is the only one.
    cached: OnceLock<Joined>,
}

/// A path and its URL.
#[derive(Debug, Clone)]
struct Joined {
    path: String,
    uri: Uri,
    #[cfg(feature = "http-reqwest")]
    url: Url,
}

impl BaseUrl {
    /// Parses a base URL.
    ///
    /// # Errors
    /// `InvalidRequest`. The error does not quote the text, which may contain a password.
    pub(super) fn parse(text: &str) -> Result<Self, LlmError> {
        let url = Url::parse(text.trim()).map_err(|error| {
            let problem = match error {
                ParseError::RelativeUrlWithoutBase => return without_scheme(text).with_source(error),
                error => error.to_string(),
            };
            invalid(format!(
                "invalid base URL: {problem}; expected something like https://host/v1"
            ))
            .with_source(error)
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            // With a port, the name of the host is taken for a scheme.
            return Err(without_scheme(text));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid(
                "the base URL contains a user name or password; set a credential or a header instead",
            ));
        }
        if url.fragment().is_some() {
            return Err(invalid(
                "the base URL contains a part after `#`, which is never sent; remove it",
            ));
        }
        let query = url.query().filter(|query| !query.is_empty()).map(str::to_owned);
        let origin = url.origin().ascii_serialization().into();
        let end = url.as_str().find('?').unwrap_or(url.as_str().len());
        let prefix = url.as_str()[..end].trim_end_matches('/').to_owned();
        Ok(Self {
            prefix,
            query,
            origin,
            url,
            cached: OnceLock::new(),
        })
    }

    /// Returns scheme, host and port for errors, without path and query, which may contain keys.
    pub(super) fn origin(&self) -> &Arc<str> {
        &self.origin
    }

    /// Returns the URL itself.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Returns whether requests are encrypted.
    pub(super) fn is_secure(&self) -> bool {
        self.prefix.starts_with("https:")
    }

    /// Returns the URL of a path, which starts with a slash and may contain a query.
    pub(super) fn join(&self, path: &str) -> Result<Uri, LlmError> {
        if let Some(cached) = self.cached.get()
            && cached.path == path
        {
            return Ok(cached.uri.clone());
        }
        let joined = self.build(path)?;
        let uri = joined.uri.clone();
        self.cached.get_or_init(|| joined);
        Ok(uri)
    }

    /// Converts a URL that was joined, and perhaps changed afterwards.
    #[cfg(feature = "http-reqwest")]
    pub(super) fn to_url(&self, uri: &Uri) -> Result<Url, ParseError> {
        match self.cached.get() {
            Some(cached) if cached.uri == *uri => Ok(cached.url.clone()),
            _ => Url::parse(&uri.to_string()),
        }
    }

    fn build(&self, path: &str) -> Result<Joined, LlmError> {
        let text = match &self.query {
            None => [&self.prefix, path].concat(),
            Some(query) => {
                let separator = if path.contains('?') { "&" } else { "?" };
                [&self.prefix, path, separator, query].concat()
            }
        };
        let no_url = "the base URL and the path of the request do not form a URL";
        let url = Url::parse(&text).map_err(|error| invalid(no_url).with_source(error))?;
        if !is_same_origin(&url, &self.url) {
            return Err(invalid(
                "the path of the request leads to another host than the base URL",
            ));
        }
        let uri = Uri::try_from(url.as_str()).map_err(|error| invalid(no_url).with_source(error))?;
        Ok(Joined {
            path: path.to_owned(),
            uri,
            #[cfg(feature = "http-reqwest")]
            url,
        })
    }
}

/// Returns whether a host is a loopback address or `localhost` (RFC 6761, section 6.3).
pub(super) fn is_loopback(host: Option<&str>) -> bool {
    let Some(host) = host else {
        return false;
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let name = host.trim_end_matches('.');
    match host.parse::<std::net::IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost"),
    }
}

/// Returns whether both URLs belong to the same server. `Url::origin` would allocate.
fn is_same_origin(a: &Url, b: &Url) -> bool {
    a.scheme() == b.scheme()
        && a.host() == b.host()
        && a.port_or_known_default() == b.port_or_known_default()
        && a.username() == b.username()
}

/// Returns the error of a base URL without `http://` or `https://`, with the URL that was probably meant.
fn without_scheme(text: &str) -> LlmError {
    invalid(match with_scheme(text.trim()) {
        Some(url) => format!("invalid base URL: http:// or https:// is missing; did you mean {url}?"),
        None => "invalid base URL: it must start with http:// or https://; expected something like https://host/v1"
            .to_owned(),
    })
}

/// Adds the scheme that a base URL lacks: `http` on this machine, else `https`. Returns `None` if the text is not clearly an
/// address: it may be a key, or contain one, and must not be quoted then.
fn with_scheme(text: &str) -> Option<String> {
    let https = Url::parse(&format!("https://{text}")).ok()?;
    let is_loopback = is_loopback(https.host_str());
    let is_address = match https.host()? {
        Host::Domain(name) => is_loopback || https.port().is_some() || has_top_level_domain(name),
        Host::Ipv4(_) | Host::Ipv6(_) => true,
    };
    let may_have_secret = !https.username().is_empty() || https.password().is_some() || text.contains(['?', '#', '@']);
    if text.contains("://") || text.contains(char::is_control) || !is_address || may_have_secret {
        return None;
    }
    Some(format!("{}://{text}", if is_loopback { "http" } else { "https" }))
}

/// Returns whether a host has a dot, and after the last one only letters, few enough for a top-level domain: some keys have a dot,
/// too.
fn has_top_level_domain(host: &str) -> bool {
    let last = host.rsplit_once('.').map(|(_, last)| last);
    last.is_some_and(|last| (2..=12).contains(&last.len()) && last.chars().all(|c| c.is_ascii_alphabetic()))
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_paths() {
        let check = |base: &str, path: &str, expected: &str| {
            assert_eq!(
                BaseUrl::parse(base).unwrap().join(path).unwrap().to_string(),
                expected,
                "{base} {path}"
            );
        };
        check(
            "https://api.example/v1",
            "/chat/completions",
            "https://api.example/v1/chat/completions",
        );
        check(" https://api.example/v1// ", "/models", "https://api.example/v1/models");
        check("http://localhost:11434", "/models", "http://localhost:11434/models");
        check("http://[::1]:80/", "/models?a=1", "http://[::1]/models?a=1");
        check(
            "https://a.example/d?api-version=1",
            "/chat",
            "https://a.example/d/chat?api-version=1",
        );
        check(
            "https://a.example/d/?v=1",
            "/chat?x=2",
            "https://a.example/d/chat?x=2&v=1",
        );
    }

    #[test]
    fn rejects_invalid_base_urls() {
        let check = |base: &str, part: &str| {
            let error = BaseUrl::parse(base).unwrap_err();
            assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
            assert!(error.to_string().contains(part), "{base}: {error}");
            assert!(
                !format!("{error} {error:?} {}", error.chain()).contains("hunter2"),
                "{error:?}"
            );
        };
        check("", "something like https://");
        check("/v1", "something like https://");
        check("ftp://a.example", "must start with http");
        check("https://", "something like https://");
        check("https://user:hunter2@a.example", "user name or password");
        check("https://a.example:99999/hunter2", "something like https://");
        check("https://a.example/#x", "after `#`");
    }

    #[test]
    fn proposes_the_scheme_that_is_missing() {
        let check = |base: &str, expected: Option<&str>| {
            let error = BaseUrl::parse(base).unwrap_err();
            assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
            match expected {
                Some(url) => assert_eq!(
                    error.message(),
                    format!("invalid base URL: http:// or https:// is missing; did you mean {url}?")
                ),
                None => assert!(!error.message().contains("did you mean"), "{base}: {error}"),
            }
        };
        check("localhost:11434/v1", Some("http://localhost:11434/v1"));
        check(" 127.0.0.1:8080 ", Some("http://127.0.0.1:8080"));
        check("[::1]:8000/v1", Some("http://[::1]:8000/v1"));
        check("localhost", Some("http://localhost"));
        check("api.openai.com/v1", Some("https://api.openai.com/v1"));
        check("api.openai.com:443/v1", Some("https://api.openai.com:443/v1"));
        check("10.0.0.7:8000/v1", Some("https://10.0.0.7:8000/v1"));
        check("gateway:4000/v1", Some("https://gateway:4000/v1"));
        // What may be a key is not quoted.
        check("hunter2", None);
        check("0123456789abcdef0123456789abcdef.AbCdEfGhIjKlMnOp", None);
        check("a.example\u{1b}[31m", None);
        check("id.hunter2", None);
        check("user:hunter2@api.example/v1", None);
        check("api.example/v1?key=hunter2", None);
        check("ftp://a.example", None);
        check("localhost:99999", None);
        check("not a url", None);
        check("", None);
    }

    #[test]
    fn rejects_paths_that_change_the_host() {
        let base = BaseUrl::parse("http://a.example").unwrap();
        assert!(base.join("@b.example/x").is_err());
        assert!(base.join(":81/x").is_err());
    }

    #[test]
    fn recognizes_loopback_by_its_name_or_address() {
        let check = |url: &str, expected: bool| {
            let url = Url::parse(url).unwrap();
            assert_eq!(is_loopback(url.host_str()), expected, "{url}");
        };
        check("http://127.0.0.1:8080/v1", true);
        check("http://127.8.9.1/", true);
        check("http://[::1]:80/", true);
        check("http://[::ffff:127.0.0.1]/", true);
        check("http://LOCALHOST:11434", true);
        check("http://app.localhost./x", true);
        check("https://api.openai.com/v1", false);
        check("http://10.0.0.1", false);
        check("http://0.0.0.0", false);
        check("http://localhost.example", false);
        check("http://notlocalhost", false);
    }
}
