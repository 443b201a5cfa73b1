//! [`Cause`]: why no reply arrived, according to the causes of a failure.

use std::{error::Error, io};

use rustls::CertificateError;

use super::super::failure::Failure;

/// The reason why no reply arrived.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Dns,
    Refused,
    /// The peer answered without TLS.
    NoTls,
    /// The peer closed the connection during the TLS handshake.
    HandshakeClosed,
    /// No trusted authority has signed the certificate.
    UnknownIssuer,
    /// Another error of TLS.
    Tls(String),
    /// The proxy did not open a tunnel to the server.
    Tunnel(TunnelFault),
    /// The peer answered, but not with HTTP.
    NotHttp,
    HeadTooLarge,
    InvalidRequest,
    /// There is no connection, for this reason.
    Unreachable(String),
    /// The connection was closed or reset.
    Lost,
}

/// The reaction of a proxy that was asked to open a tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TunnelFault {
    /// There is no connection to the proxy; another cause contains the reason.
    NotConnected,
    /// It requires credentials.
    Authentication,
    /// It refused.
    Refused,
    /// It closed the connection.
    Closed,
}

impl Cause {
    pub(super) fn of(failure: &Failure) -> Self {
        if failure.is_invalid_request {
            return Self::InvalidRequest;
        }
        if let Some(fault) = tunnel_fault(failure).filter(|fault| *fault != TunnelFault::NotConnected) {
            return Self::Tunnel(fault);
        }
        let found = failure.causes().find_map(|cause| {
            let tls = cause.downcast_ref().map(Self::from_tls);
            let io = || cause.downcast_ref().and_then(Self::from_io);
            tls.or_else(io).or_else(|| Self::from_http(cause))
        });
        if let Some(found) = found {
            return found;
        }
        match failure.is_connect {
            true if is_closed(failure) => Self::HandshakeClosed,
            true => Self::Unreachable(failure.causes().last().map(ToString::to_string).unwrap_or_default()),
            false => Self::Lost,
        }
    }

    fn from_tls(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidMessage(_) => Self::NoTls,
            rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => Self::UnknownIssuer,
            error => Self::Tls(error.to_string()),
        }
    }

    /// Recognizes errors of hyper and hyper-util by their text, because reqwest does not export the types of the former,
    /// and those of the latter are private.
    fn from_http(error: &dyn Error) -> Option<Self> {
        let text = error.to_string();
        if text == "dns error" {
            return Some(Self::Dns);
        }
        if text.starts_with("message head is too large") {
            return Some(Self::HeadTooLarge);
        }
        // Servers of other protocols send a greeting before the request.
        let is_other = text.starts_with("invalid HTTP") || text.starts_with("received unexpected message");
        is_other.then_some(Self::NotHttp)
    }

    fn from_io(error: &io::Error) -> Option<Self> {
        (error.kind() == io::ErrorKind::ConnectionRefused).then_some(Self::Refused)
    }
}

/// Returns what went wrong between this machine and the proxy, if the error is about opening a tunnel.
///
/// The type of this error is private to hyper-util, so it can only be recognized by its text.
pub(super) fn tunnel_fault(failure: &Failure) -> Option<TunnelFault> {
    let text = failure.causes().find_map(|cause| {
        let text = cause.to_string();
        text.strip_prefix("tunnel error: ").map(str::to_owned)
    })?;
    Some(match text.as_str() {
        "failed to create underlying connection" => TunnelFault::NotConnected,
        "proxy authorization required" => TunnelFault::Authentication,
        "unexpected end of file" | "io error establishing tunnel" => TunnelFault::Closed,
        _ => TunnelFault::Refused,
    })
}

/// Returns whether the peer closed the connection in an orderly way.
fn is_closed(failure: &Failure) -> bool {
    failure
        .causes()
        .filter_map(|cause| cause.downcast_ref())
        .any(|cause: &io::Error| cause.kind() == io::ErrorKind::UnexpectedEof)
}
