//! [`McpTransport`]: how a client reaches a server.

#[cfg_attr(
    not(feature = "client-http"),
    allow(dead_code, reason = "only HTTP knows which request a text answers")
)]
mod message;
mod handshake;
pub(crate) mod lines;
pub(crate) mod tap;
mod stdio;
#[cfg(feature = "client-http")]
mod http;

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};

#[cfg(feature = "client-http")]
pub use self::http::HttpTransport;
#[cfg(feature = "client-http")]
pub(crate) use self::http::{Settings as HttpSettings, http_error};
pub use self::stdio::StdioTransport;

/// The way in which a client reaches a server.
///
/// Usually made from a [`StdioTransport`] or an `HttpTransport`; every function that accepts a transport accepts those as
/// well.
pub struct McpTransport(pub(crate) Kind);

/// The kinds of transport.
pub(crate) enum Kind {
    Stdio(StdioTransport),
    Streams(Streams),
    #[cfg(feature = "client-http")]
    Http(HttpTransport),
}

/// A pair of byte streams.
pub(crate) struct Streams {
    pub(crate) read: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) write: Box<dyn AsyncWrite + Send + Unpin>,
}

impl McpTransport {
    /// Creates a transport over byte streams: one JSON message per line, as over the pipes of a process.
    ///
    /// Use it for sockets, and for a server in the same process. Such a connection cannot be restarted.
    pub fn streams(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self(Kind::Streams(Streams {
            read: Box::new(read),
            write: Box::new(write),
        }))
    }
}

impl McpTransport {
    /// Confines the server if it is started as a child process. Any other transport is returned unchanged.
    #[must_use]
    pub fn with_sandbox(self, sandbox: agcore_sandbox::Sandbox) -> Self {
        match self.0 {
            Kind::Stdio(stdio) => stdio.with_sandbox(sandbox).into(),
            kind => Self(kind),
        }
    }

    /// Obtains tokens with OAuth if this is a server over HTTP that has no header `Authorization` and no bearer token. Any
    /// other transport is returned unchanged.
    #[cfg(feature = "oauth")]
    #[must_use]
    pub fn with_oauth(self, oauth: crate::oauth::OAuth) -> Self {
        match self.0 {
            Kind::Http(http) if !http.is_authorized() => http.with_oauth(oauth).into(),
            kind => Self(kind),
        }
    }
}

impl From<StdioTransport> for McpTransport {
    fn from(transport: StdioTransport) -> Self {
        Self(Kind::Stdio(transport))
    }
}

#[cfg(feature = "client-http")]
impl From<HttpTransport> for McpTransport {
    fn from(transport: HttpTransport) -> Self {
        Self(Kind::Http(transport))
    }
}

impl fmt::Debug for McpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Stdio(transport) => transport.fmt(f),
            Kind::Streams(_) => f.write_str("Streams"),
            #[cfg(feature = "client-http")]
            Kind::Http(transport) => transport.fmt(f),
        }
    }
}
