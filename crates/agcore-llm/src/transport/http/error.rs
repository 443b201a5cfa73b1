//! What reqwest's errors mean to a caller: kind, reason, way out. No URL is kept, as paths and queries may hold keys.

use std::{error::Error, io};

use agcore_wire::{LlmError, LlmErrorKind, TimeoutStage};

use super::timeouts::Timeouts;

/// An exchange that failed before the head of the reply.
pub(super) fn unanswered(error: reqwest::Error, origin: &str, timeouts: &Timeouts) -> LlmError {
    if timeouts.connect.is_some() && error.is_timeout() && error.is_connect() {
        return timeouts
            .expired(TimeoutStage::Connect, origin)
            .with_source(error.without_url());
    }
    let (kind, message, retryable) = match Cause::of(&error) {
        Cause::Dns => (
            LlmErrorKind::Connect,
            format!("the host of {origin} is not known; check the spelling of the base URL and the network"),
            true,
        ),
        Cause::Refused => (
            LlmErrorKind::Connect,
            format!("connection refused; is the server running at {origin}?"),
            true,
        ),
        Cause::Tls { plain: true } => (
            LlmErrorKind::Connect,
            format!("{origin} does not speak TLS; does its base URL begin with http:// instead of https://?"),
            false,
        ),
        Cause::Tls { plain: false } => (
            LlmErrorKind::Connect,
            format!("no secure connection to {origin}; is its certificate valid and trusted on this machine?"),
            false,
        ),
        Cause::Other if error.is_builder() => (
            LlmErrorKind::InvalidRequest,
            "the request cannot be sent as it is".to_owned(),
            false,
        ),
        Cause::Other if error.is_connect() => (
            LlmErrorKind::Connect,
            format!("no connection to {origin}; check the base URL and the network"),
            true,
        ),
        Cause::Other => (
            LlmErrorKind::Connect,
            format!("the connection to {origin} broke before the answer began"),
            true,
        ),
    };
    LlmError::new(kind, message)
        .with_retryable(retryable)
        .with_source(error.without_url())
}

/// A body that ended in the middle, or cannot be read. `Truncated` when the server closed the connection in order.
pub(super) fn broken_body(error: reqwest::Error, origin: &str) -> LlmError {
    let (kind, message) = match io_kind(&error) {
        Some(io::ErrorKind::UnexpectedEof) => (
            LlmErrorKind::Truncated,
            format!("{origin} closed the connection in the middle of the answer"),
        ),
        Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => (
            LlmErrorKind::Malformed,
            format!("the answer of {origin} is no valid HTTP, or its compression is broken"),
        ),
        _ => (
            LlmErrorKind::Connect,
            format!("the connection to {origin} broke in the middle of the answer"),
        ),
    };
    LlmError::new(kind, message).with_source(error.without_url())
}

/// Why there was no answer.
#[derive(Debug, PartialEq, Eq)]
enum Cause {
    Dns,
    Refused,
    /// `plain` when the server answered something that is no TLS.
    Tls {
        plain: bool,
    },
    Other,
}

impl Cause {
    fn of(error: &reqwest::Error) -> Self {
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

/// The causes, also those that I/O errors wrap: their `source()` skips what they hold.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| {
        match cause.downcast_ref().and_then(|io: &io::Error| io.get_ref()) {
            Some(inner) => Some(inner as _),
            None => cause.source(),
        }
    })
}
