//! [`Peer`]: the machine that an error is about, and the sentence that says so.

use std::fmt;

use agcore_wire::LlmErrorKind;

use super::{
    super::route::ProxyRoute,
    cause::{Cause, TunnelFault},
};

/// The remedy for a private certificate authority. Only some platforms use the variable.
const TRUST: &str = if cfg!(any(windows, target_vendor = "apple")) {
    "add its certificate to those that the system trusts"
} else {
    "set the variable SSL_CERT_FILE to a PEM file that contains its certificate"
};

/// The machine that an error is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Peer<'a> {
    /// The server, by its scheme, host and port.
    Server(&'a str),
    Proxy(&'a ProxyRoute),
}

impl fmt::Display for Peer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(origin) => f.write_str(origin),
            Self::Proxy(proxy) => write!(f, "the proxy {proxy}"),
        }
    }
}

impl Peer<'_> {
    /// Returns the kind of an error, its message, and whether a retry may help.
    pub(super) fn describe(self, cause: &Cause, origin: &str) -> (LlmErrorKind, String, bool) {
        let (message, retryable) = match cause {
            Cause::Dns => (
                format!(
                    "cannot resolve the host of {self}; check {} and the network",
                    self.setting()
                ),
                true,
            ),
            Cause::Refused => (self.refused(), true),
            Cause::NoTls | Cause::HandshakeClosed | Cause::UnknownIssuer | Cause::Tls(_) => (self.tls(cause), false),
            Cause::Tunnel(fault) => (self.tunnel(*fault, origin), true),
            Cause::NotHttp => (self.not_http(), false),
            Cause::HeadTooLarge => {
                let message = format!("the headers of the reply of {self} are too large");
                return (LlmErrorKind::Malformed, message, false);
            }
            Cause::InvalidRequest => {
                let message = "cannot send the request: its URL or its headers are invalid".to_owned();
                return (LlmErrorKind::InvalidRequest, message, false);
            }
            Cause::Unreachable(reason) => self.unreachable(reason),
            Cause::Lost => (format!("lost the connection to {self} before the reply started"), true),
        };
        (LlmErrorKind::Connect, message, retryable)
    }

    /// Returns the setting that contains the address.
    fn setting(self) -> &'static str {
        match self {
            Self::Server(_) => "the base URL",
            Self::Proxy(proxy) => proxy.setting(),
        }
    }

    fn refused(self) -> String {
        match self {
            Self::Server(origin) => format!("connection refused; is the server running at {origin}?"),
            Self::Proxy(proxy) => format!("the proxy {proxy} refused the connection; is it running there?"),
        }
    }

    fn tls(self, cause: &Cause) -> String {
        let url = match self {
            Self::Server(_) => "base URL",
            Self::Proxy(_) => "URL",
        };
        match cause {
            Cause::NoTls => {
                format!("{self} does not support TLS; should its {url} start with http:// instead of https://?")
            }
            Cause::HandshakeClosed => format!(
                "{self} closed the connection during the TLS handshake; \
                 should its {url} start with http:// instead of https://?"
            ),
            Cause::UnknownIssuer => format!(
                "the certificate of {self} is not signed by a trusted authority; to trust a private authority, {TRUST}"
            ),
            Cause::Tls(reason) => format!("cannot establish a TLS connection to {self}: {reason}"),
            _ => format!("cannot establish a TLS connection to {self}"),
        }
    }

    fn tunnel(self, fault: TunnelFault, origin: &str) -> String {
        match fault {
            TunnelFault::Closed => format!("{self} closed the connection instead of connecting to {origin}"),
            _ => format!("{self} refused to connect to {origin}; it does not allow this address or cannot reach it"),
        }
    }

    fn not_http(self) -> String {
        match self {
            Self::Proxy(_) => format!("{self} did not answer with valid HTTP; is it an HTTP proxy?"),
            Self::Server(origin) if origin.starts_with("https:") => {
                format!("{origin} did not answer with valid HTTP; is it a model server?")
            }
            Self::Server(origin) => format!(
                "{origin} did not answer with valid HTTP; \
                 is it a model server, or should its base URL start with https:// instead of http://?"
            ),
        }
    }

    fn unreachable(self, reason: &str) -> (String, bool) {
        if let Self::Proxy(proxy) = self
            && proxy.is_socks()
        {
            let message = format!("cannot use the proxy {proxy}: only http:// and https:// proxies are supported");
            return (message, false);
        }
        let message = format!(
            "cannot connect to {self}: {reason}; check {} and the network",
            self.setting()
        );
        (message, true)
    }
}
