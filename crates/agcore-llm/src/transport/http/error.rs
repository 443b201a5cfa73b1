//! Converts failures into [`LlmError`]s with a reason and a remedy.

mod cause;
mod peer;

use std::{error::Error, fmt, io};

use agcore_wire::{LlmError, LlmErrorKind, TimeoutStage};
use http::StatusCode;

use super::{
    base_url::{BaseUrl, is_loopback},
    failure::Failure,
    route::ProxyRoute,
    timeouts::Timeouts,
};
use crate::transport::refused::LocallyRefused;

use self::{
    cause::{Cause, TunnelFault, tunnel_fault},
    peer::Peer,
};

/// The source of an [`LlmError`] that is about the proxy and not about the server.
///
/// ```no_run
/// use std::error::Error;
/// use agcore_llm::{LlmError, transport::http::ProxyError};
///
/// fn failed_proxy(error: &LlmError) -> Option<&str> {
///     let source = error.source()?.downcast_ref::<ProxyError>()?;
///     Some(source.proxy().address())
/// }
/// ```
#[derive(Debug)]
pub struct ProxyError {
    proxy: ProxyRoute,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ProxyError {
    /// Returns the proxy.
    pub fn proxy(&self) -> &ProxyRoute {
        &self.proxy
    }
}

impl fmt::Display for ProxyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy {}", self.proxy)
    }
}

impl Error for ProxyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// Converts an error that occurred before the head of the reply arrived.
pub(super) fn send_error(
    failure: Failure,
    base: &BaseUrl,
    proxy: Option<&ProxyRoute>,
    timeouts: &Timeouts,
) -> LlmError {
    if timeouts.connect.is_some() && failure.is_timeout && failure.is_connect {
        let target = match proxy {
            Some(proxy) => format!("{} through the proxy {proxy}", base.origin()),
            None => base.origin().to_string(),
        };
        return timeouts
            .error(TimeoutStage::Connect, &target)
            .with_source(failure.into_source());
    }
    // A plain request goes to the proxy itself. An encrypted one passes through the tunnel that the proxy opens.
    let blamed = proxy.filter(|_| !base.is_secure() || tunnel_fault(&failure).is_some());
    let peer = match blamed {
        Some(proxy) => Peer::Proxy(proxy),
        None => Peer::Server(base.origin()),
    };
    let cause = Cause::of(&failure);
    if let Cause::Tunnel(TunnelFault::Authentication) = cause
        && let Some(proxy) = blamed
    {
        return proxy_authentication(proxy, Some(failure.into_source()));
    }
    let (kind, message, retryable) = peer.describe(&cause, base.origin());
    let is_local = blamed.map_or_else(|| is_loopback(base.url().host_str()), ProxyRoute::is_loopback);
    let source: Box<dyn Error + Send + Sync> = match cause {
        Cause::Refused if is_local => Box::new(LocallyRefused::new(failure.into_source())),
        _ => failure.into_source(),
    };
    let error = LlmError::new(kind, message).with_retryable(retryable);
    match blamed {
        Some(proxy) => error.with_source(ProxyError {
            proxy: proxy.clone(),
            source: Some(source),
        }),
        None => error.with_source(source),
    }
}

/// Returns the error of a proxy that does not accept the user name and password, or received none.
pub(super) fn proxy_authentication(proxy: &ProxyRoute, source: Option<Box<dyn Error + Send + Sync>>) -> LlmError {
    let problem = match proxy.has_credentials() {
        true => "rejects the user name or password in its URL",
        false => "requires a user name and password",
    };
    let message = format!(
        "the proxy {proxy} {problem}; set {} to something like http://user:password@host:3128",
        proxy.setting()
    );
    LlmError::new(LlmErrorKind::Authentication, message)
        .with_status(StatusCode::PROXY_AUTHENTICATION_REQUIRED.as_u16())
        .with_source(ProxyError {
            proxy: proxy.clone(),
            source,
        })
}

/// Converts an error that occurred in the body. It is `Truncated` if the server closed the connection in an orderly
/// way.
pub(super) fn body_error(failure: Failure, origin: &str) -> LlmError {
    let (kind, message) = match failure.io_kind() {
        Some(io::ErrorKind::UnexpectedEof) => (
            LlmErrorKind::Truncated,
            format!("{origin} closed the connection in the middle of the reply"),
        ),
        Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => (
            LlmErrorKind::Malformed,
            format!("the reply of {origin} is not valid HTTP, or its compression is corrupt"),
        ),
        _ => (
            LlmErrorKind::Connect,
            format!("lost the connection to {origin} in the middle of the reply"),
        ),
    };
    LlmError::new(kind, message).with_source(failure.into_source())
}
