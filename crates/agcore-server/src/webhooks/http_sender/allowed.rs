//! [`AllowedHost`]: a host on a private network to which messages may be sent.

use url::Url;

/// The ports of a host that is allowed without one.
const PORTS: [u16; 2] = [80, 443];

/// A host that the operator allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AllowedHost {
    /// In the form of [`Url::host_str`].
    host: String,
    port: Option<u16>,
}

impl AllowedHost {
    /// Reads `HOST` or `HOST:PORT`; `None` for other texts.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() || text.contains(['/', '\\', '?', '#', '@']) || text.contains(char::is_whitespace) {
            return None;
        }
        // Each scheme hides its own default port.
        let [http, https] = ["http", "https"].map(|scheme| Url::parse(&format!("{scheme}://{text}")).ok());
        let (http, https) = (http?, https?);
        Some(Self {
            host: http.host_str()?.to_owned(),
            port: http.port().or(https.port()),
        })
    }

    /// Returns whether a URL is on this host.
    pub(super) fn matches(&self, url: &Url) -> bool {
        let port = url.port_or_known_default();
        let is_port = port.is_some_and(|port| match self.port {
            Some(known) => port == known,
            None => PORTS.contains(&port),
        });
        is_port && url.host_str() == Some(&self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_allowed_with_its_port() {
        let matches = |allowed: &str, url: &str| {
            let allowed = AllowedHost::parse(allowed).unwrap();
            allowed.matches(&Url::parse(url).unwrap())
        };
        for (allowed, url) in [
            ("hooks.internal", "https://HOOKS.internal/a"),
            ("hooks.internal", "http://hooks.internal/a"),
            ("hooks.internal:80", "http://hooks.internal/a"),
            ("hooks.internal:443", "https://hooks.internal/a"),
            ("10.0.0.5:8080", "http://10.0.0.5:8080/"),
            ("10.0.0.5:8080", "http://0x0a.5:8080/"),
            ("[fd00::5]:8080", "http://[fd00:0::5]:8080/"),
        ] {
            assert!(matches(allowed, url), "{allowed} {url}");
        }
        for (allowed, url) in [
            ("hooks.internal", "http://hooks.internal:8080/"),
            ("hooks.internal:80", "https://hooks.internal/"),
            ("hooks.internal:443", "http://hooks.internal/"),
            ("10.0.0.5:8080", "http://10.0.0.6:8080/"),
            ("10.0.0.5:8080", "http://10.0.0.5:80/"),
            ("hooks.internal", "http://a.hooks.internal/"),
        ] {
            assert!(!matches(allowed, url), "{allowed} {url}");
        }
        for text in ["", " ", "http://a", "a/b", "user@a", "a:b", "a:99999", "[::1", "*"] {
            let read = AllowedHost::parse(text);
            assert!(read.is_none() || text == "*", "{text}");
        }
    }
}
