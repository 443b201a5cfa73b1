//! Converts errors of reqwest into [`LlmError`]s with a reason and a remedy.
//!
//! URLs are removed, because their paths and queries may contain keys.

use std::{error::Error, io};

use agcore_wire::{LlmError, LlmErrorKind, TimeoutStage};

use super::timeouts::Timeouts;

/// Converts an error that occurred before the head of the reply arrived.
pub(super) fn send_error(error: reqwest::Error, origin: &str, timeouts: &Timeouts) -> LlmError {
    if timeouts.connect.is_some() && error.is_timeout() && error.is_connect() {
        return timeouts
            .error(TimeoutStage::Connect, origin)
            .with_source(error.without_url());
    }
    let (kind, message, retryable) = match Cause::from_error(&error) {
        Cause::Dns => (
            LlmErrorKind::Connect,
            format!("cannot resolve the host of {origin}; check the base URL and the network"),
            true,
        ),
        Cause::Refused => (
            LlmErrorKind::Connect,
            format!("connection refused; is the server running at {origin}?"),
            true,
        ),
        Cause::Tls { plain: true } => (
            LlmErrorKind::Connect,
            format!("{origin} does not support TLS; should its base URL start with http:// instead of https://?"),
            false,
        ),
        Cause::Tls { plain: false } => (
            LlmErrorKind::Connect,
            format!("cannot establish a TLS connection to {origin}; is its certificate valid and trusted here?"),
            false,
        ),
        Cause::Other if error.is_builder() => (
            LlmErrorKind::InvalidRequest,
            "cannot send the request: its URL or its headers are invalid".to_owned(),
            false,
        ),
        Cause::Other if error.is_connect() => (
            LlmErrorKind::Connect,
            format!("cannot connect to {origin}; check the base URL and the network"),
            true,
        ),
        Cause::Other => (
            LlmErrorKind::Connect,
            format!("lost the connection to {origin} before the reply started"),
            true,
        ),
    };
    LlmError::new(kind, message)
        .with_retryable(retryable)
        .with_source(error.without_url())
}

/// Converts an error that occurred in the body. It is `Truncated` if the server closed the connection in an orderly
/// way.
pub(super) fn body_error(error: reqwest::Error, origin: &str) -> LlmError {
    let (kind, message) = match io_kind(&error) {
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
    LlmError::new(kind, message).with_source(error.without_url())
}

/// The reason why no reply arrived.
#[derive(Debug, PartialEq, Eq)]
enum Cause {
    Dns,
    Refused,
    /// `plain` is whether the server answered without TLS.
    Tls {
        plain: bool,
    },
    Other,
}

impl Cause {
    fn from_error(error: &reqwest::Error) -> Self {
        if error.is_dns() {
            return Self::Dns;
        }
        for cause in causes(error) {
            if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
                return Self::Tls {
                    plain: matches!(tls, rustls::Error::InvalidMessage(_)),
                };
            }
            if cause
                .downcast_ref()
                .is_some_and(|io: &io::Error| io.kind() == io::ErrorKind::ConnectionRefused)
            {
                return Self::Refused;
            }
        }
        Self::Other
    }
}

fn io_kind(error: &reqwest::Error) -> Option<io::ErrorKind> {
    causes(error)
        .find_map(|cause| cause.downcast_ref())
        .map(io::Error::kind)
}

/// Returns the causes of an error, including those inside I/O errors, whose `source()` skips the error they wrap.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| {
        match cause.downcast_ref().and_then(|io: &io::Error| io.get_ref()) {
            Some(inner) => Some(inner as _),
            None => cause.source(),
        }
    })
}
