//! [`ProxyRoute`]: the proxy that the requests to one server are sent through.

use std::fmt;

use hyper_util::client::proxy::matcher::Matcher;
use url::Url;

use crate::credential::Secret;
use agcore_wire::{LlmError, LlmErrorKind};

use super::base_url::is_loopback;

/// The proxy that the requests to one server are sent through, and where it was configured.
///
/// It is displayed without user name and password.
///
/// ```
/// use agcore_llm::transport::http::Proxy;
///
/// let proxy = Proxy::parse("http://me:password@proxy:3128")?;
/// let route = proxy.route("https://api.openai.com/v1")?.expect("a proxy is set");
/// assert_eq!(route.to_string(), "http://proxy:3128");
/// assert_eq!(route.variable(), None);
/// # Ok::<(), agcore_llm::LlmError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyRoute {
    url: Secret,
    address: String,
    variable: Option<&'static str>,
}

impl ProxyRoute {
    /// Parses the URL of a proxy. Without a scheme, it is an `http://` URL, as in curl.
    pub(super) fn parse(url: &str, variable: Option<&'static str>) -> Option<Self> {
        let text = match url.trim() {
            url if url.contains("://") => url.to_owned(),
            url => format!("http://{url}"),
        };
        let url = Url::parse(&text).ok()?;
        let is_known = matches!(
            url.scheme(),
            "http" | "https" | "socks4" | "socks4a" | "socks5" | "socks5h"
        );
        let host = url.host_str().filter(|host| is_known && !host.is_empty())?;
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        Some(Self {
            address: format!("{}://{host}{port}", url.scheme()),
            url: text.into(),
            variable,
        })
    }

    /// Returns the proxy that the environment variables set for a server. `read` returns the value of a variable.
    ///
    /// A server on this machine needs no proxy, and a proxy elsewhere could not reach it.
    ///
    /// # Errors
    /// `InvalidRequest` if the variable is not the URL of a proxy.
    pub(super) fn from_environment(
        server: &Url,
        read: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, LlmError> {
        let read = |name: &str| read(name).filter(|value| !value.trim().is_empty());
        // In a CGI program, HTTP_PROXY is a header of the request that started it.
        if is_loopback(server.host_str()) || read("REQUEST_METHOD").is_some() {
            return Ok(None);
        }
        let names = match server.scheme() {
            "https" => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
            _ => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
        };
        let Some((name, url)) = names.into_iter().find_map(|name| Some((name, read(name)?))) else {
            return Ok(None);
        };
        let exceptions = ["NO_PROXY", "no_proxy"].into_iter().find_map(read);
        if exceptions.is_some_and(|exceptions| is_exception(server, exceptions)) {
            return Ok(None);
        }
        match Self::parse(&url, Some(name)) {
            Some(route) => Ok(Some(route)),
            None => Err(LlmError::new(
                LlmErrorKind::InvalidRequest,
                format!("the variable {name} is not the URL of a proxy; expected something like http://host:3128"),
            )),
        }
    }

    /// Returns scheme, host and port of the proxy, without user name and password.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the environment variable that sets the proxy, or `None` if the settings do.
    pub fn variable(&self) -> Option<&'static str> {
        self.variable
    }

    /// Returns the URL of the proxy, which may contain a password.
    pub(super) fn url(&self) -> &Secret {
        &self.url
    }

    /// Returns whether the connection to the proxy itself is encrypted.
    pub(super) fn is_secure(&self) -> bool {
        self.address.starts_with("https:")
    }

    /// Returns the setting that contains the address of the proxy, for errors.
    pub(super) fn setting(&self) -> &'static str {
        self.variable.unwrap_or("the URL of the proxy")
    }

    pub(super) fn has_credentials(&self) -> bool {
        let url = Url::parse(self.url.expose());
        url.is_ok_and(|url| !url.username().is_empty() || url.password().is_some())
    }

    pub(super) fn is_socks(&self) -> bool {
        self.address.starts_with("socks")
    }

    pub(super) fn is_loopback(&self) -> bool {
        Url::parse(&self.address).is_ok_and(|url| is_loopback(url.host_str()))
    }
}

impl fmt::Display for ProxyRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)?;
        match self.variable {
            Some(name) => write!(f, " (from {name})"),
            None => Ok(()),
        }
    }
}

/// Returns whether the server is one of the exceptions that `NO_PROXY` lists.
fn is_exception(server: &Url, exceptions: String) -> bool {
    // The matcher that reqwest uses. The proxy does not matter, only whether it is used.
    let matcher = Matcher::builder().all("http://proxy").no(exceptions).build();
    let server = server.origin().ascii_serialization().parse();
    server.is_ok_and(|server| matcher.intercept(&server).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(server: &str, variables: &[(&str, &str)]) -> Option<String> {
        let read = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let route = ProxyRoute::from_environment(&Url::parse(server).unwrap(), read).unwrap();
        route.map(|route| route.to_string())
    }

    #[track_caller]
    fn check(server: &str, variables: &[(&str, &str)], expected: Option<&str>) {
        assert_eq!(route(server, variables).as_deref(), expected, "{server} {variables:?}");
    }

    #[test]
    fn the_scheme_of_the_server_chooses_the_variable() {
        let all = [
            ("HTTP_PROXY", "http://me:hunter2@a:1"),
            ("https_proxy", "b:2"),
            ("ALL_PROXY", "https://c"),
        ];
        check("http://model.example/v1", &all, Some("http://a:1 (from HTTP_PROXY)"));
        check("https://model.example/v1", &all, Some("http://b:2 (from https_proxy)"));
        check("https://model.example", &all[2..], Some("https://c (from ALL_PROXY)"));
        check("https://model.example", &all[..1], None);
        let empty = [("HTTPS_PROXY", " "), ("all_proxy", "socks5://[::1]:1080")];
        check(
            "https://model.example",
            &empty,
            Some("socks5://[::1]:1080 (from all_proxy)"),
        );
        check(
            "http://model.example",
            &[("HTTP_PROXY", "a"), ("REQUEST_METHOD", "GET")],
            None,
        );
    }

    #[test]
    fn exceptions_and_this_machine_need_no_proxy() {
        let proxied = Some("http://a:1 (from HTTP_PROXY)");
        let except = |exceptions| [("HTTP_PROXY", "http://a:1"), ("no_proxy", exceptions)];
        check("http://model.example/v1", &except("other.example, model.example"), None);
        check("http://eu.model.example:8000", &except(".model.example"), None);
        check("http://10.1.2.3/v1", &except("10.0.0.0/8"), None);
        check("http://model.example", &except("*"), None);
        check("http://model.example", &except("del.example"), proxied);
        check("http://model.example", &except(""), proxied);
        check("http://localhost:11434", &except(""), None);
        check("http://[::1]:11434", &except(""), None);
    }

    #[test]
    fn rejects_invalid_variables_without_quoting_them() {
        for invalid in ["ftp://me:hunter2@proxy", "http://", "http://me:hunter2@proxy:99999"] {
            let server = Url::parse("https://model.example").unwrap();
            let error =
                ProxyRoute::from_environment(&server, |name| (name == "HTTPS_PROXY").then(|| invalid.to_owned()));
            let error = error.unwrap_err();
            assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
            assert!(
                error.message().contains("the variable HTTPS_PROXY is not the URL"),
                "{error}"
            );
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
    }
}
