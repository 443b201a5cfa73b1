//! [`Proxy`]: through what requests go out.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use crate::credential::Secret;
use agcore_wire::{LlmError, LlmErrorKind};

/// Through what requests go out. In settings `none`, `environment`, or a URL.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Proxy {
    /// Straight to the server, whatever the environment says.
    #[default]
    None,
    /// As the environment's `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say.
    Environment,
    /// Everything through this `http://` or `https://` proxy. The URL may hold a user name and password.
    Url(Secret),
}

impl Proxy {
    /// Reads `none`, `environment`, or a URL.
    ///
    /// # Errors
    /// `InvalidRequest` when it is none of them; the error does not repeat the text, as it may hold a password.
    pub fn parse(text: &str) -> Result<Self, LlmError> {
        match text.trim() {
            "none" => Ok(Self::None),
            "environment" => Ok(Self::Environment),
            url if is_proxy_url(url) => Ok(Self::Url(url.into())),
            _ => Err(LlmError::new(LlmErrorKind::InvalidRequest, WRONG)),
        }
    }

    /// Whether the way to the proxy itself is encrypted.
    pub(super) fn needs_tls(&self) -> bool {
        match self {
            Self::None => false,
            Self::Environment => true,
            Self::Url(url) => url.expose().starts_with("https:"),
        }
    }

    /// Sets it on a client.
    pub(super) fn apply(&self, client: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder, LlmError> {
        Ok(match self {
            Self::None => client.no_proxy(),
            Self::Environment => client,
            Self::Url(url) => {
                let proxy = reqwest::Proxy::all(url.expose()).map_err(|error| {
                    LlmError::new(LlmErrorKind::InvalidRequest, WRONG).with_source(error.without_url())
                })?;
                client.no_proxy().proxy(proxy)
            }
        })
    }
}

const WRONG: &str = "a proxy is `none`, `environment`, or a URL like http://host:3128";

fn is_proxy_url(url: &str) -> bool {
    reqwest::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

impl<'de> Deserialize<'de> for Proxy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ProxyVisitor;

        impl de::Visitor<'_> for ProxyVisitor {
            type Value = Proxy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(WRONG)
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
    fn is_read_from_settings() {
        let read = |text: &str| serde_json::from_str::<Proxy>(text);
        assert_eq!(read(r#""none""#).unwrap(), Proxy::None);
        assert_eq!(read(r#""environment""#).unwrap(), Proxy::Environment);
        let proxy = read(r#""http://me:hunter2@proxy:3128""#).unwrap();
        assert_eq!(proxy, Proxy::Url("http://me:hunter2@proxy:3128".into()));
        assert!(!format!("{proxy:?}").contains("hunter2"));
        for wrong in ["\"\"", "\"proxy:3128\"", "\"socks5://me:hunter2@proxy\"", "true"] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains("a proxy is `none`"), "{wrong}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
