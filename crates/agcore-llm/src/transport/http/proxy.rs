//! [`Proxy`]: the proxy that requests are sent through.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use crate::credential::Secret;
use agcore_wire::{LlmError, LlmErrorKind};

use super::{base_url::BaseUrl, route::ProxyRoute};

/// The proxy that requests are sent through: `none`, `environment` or a URL in settings.
///
/// ```
/// use agcore_llm::transport::http::Proxy;
///
/// assert_eq!(Proxy::default(), Proxy::None);
/// let proxy: Proxy = serde_json::from_str(r#""http://me:password@proxy:3128""#)?;
/// assert_eq!(format!("{proxy:?}"), "Url(Secret(…))");
///
/// let error = Proxy::parse("proxy:3128").unwrap_err();
/// assert!(error.message().starts_with("invalid proxy: expected `none`, `environment`, or a URL"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Proxy {
    /// No proxy, regardless of the environment.
    #[default]
    None,
    /// The proxy of the environment variables `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in capital or
    /// small letters. Servers on loopback are reached without it.
    Environment,
    /// This `http://` or `https://` proxy for all requests. The URL may contain a user name and password.
    Url(Secret),
}

impl Proxy {
    /// Parses `none`, `environment`, or a URL.
    ///
    /// # Errors
    /// `InvalidRequest` for any other text. The error does not quote the text, which may contain a password.
    pub fn parse(text: &str) -> Result<Self, LlmError> {
        match text.trim() {
            "none" => Ok(Self::None),
            "environment" => Ok(Self::Environment),
            url if is_proxy_url(url) => Ok(Self::Url(url.into())),
            _ => Err(invalid()),
        }
    }

    /// Returns the proxy for requests to a server with this base URL, or `None` if they are sent without one.
    ///
    /// # Errors
    /// `InvalidRequest` if the base URL or the proxy is invalid.
    pub fn route(&self, base_url: &str) -> Result<Option<ProxyRoute>, LlmError> {
        self.route_to(&BaseUrl::parse(base_url)?)
    }

    pub(super) fn route_to(&self, base: &BaseUrl) -> Result<Option<ProxyRoute>, LlmError> {
        match self {
            Self::None => Ok(None),
            Self::Environment => ProxyRoute::from_environment(base.url(), variable),
            Self::Url(url) => ProxyRoute::parse(url.expose(), None).map(Some).ok_or_else(invalid),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "`Proxy::Environment` is a request to read these variables"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

const EXPECTED: &str = "`none`, `environment`, or a URL such as http://host:3128";

/// Returns the error of an invalid proxy, without quoting it.
pub(super) fn invalid() -> LlmError {
    LlmError::new(
        LlmErrorKind::InvalidRequest,
        format!("invalid proxy: expected {EXPECTED}"),
    )
}

fn is_proxy_url(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

impl<'de> Deserialize<'de> for Proxy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ProxyVisitor;

        impl de::Visitor<'_> for ProxyVisitor {
            type Value = Proxy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Proxy, E> {
                Proxy::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(ProxyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deserializes_from_settings() {
        let parse = |text: &str| serde_json::from_str::<Proxy>(text);
        assert_eq!(parse(r#""none""#).unwrap(), Proxy::None);
        assert_eq!(parse(r#""environment""#).unwrap(), Proxy::Environment);
        let proxy = parse(r#""http://me:hunter2@proxy:3128""#).unwrap();
        assert_eq!(proxy, Proxy::Url("http://me:hunter2@proxy:3128".into()));
        assert!(!format!("{proxy:?}").contains("hunter2"));
        for invalid in ["\"\"", "\"proxy:3128\"", "\"socks5://me:hunter2@proxy\"", "true"] {
            let error = parse(invalid).unwrap_err().to_string();
            assert!(error.contains("expected `none`, `environment`"), "{invalid}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
