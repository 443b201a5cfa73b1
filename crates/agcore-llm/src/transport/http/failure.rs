//! [`Failure`]: an error of the library that sends requests, before it gets a message.

use std::{error::Error, io};

/// An error of the client, with what only its own type knows.
#[derive(Debug)]
pub(super) struct Failure {
    error: Box<dyn Error + Send + Sync>,
    /// Whether there was no connection yet.
    pub(super) is_connect: bool,
    /// Whether a time limit was exceeded.
    pub(super) is_timeout: bool,
    /// Whether the request cannot be sent at all.
    pub(super) is_invalid_request: bool,
}

impl Failure {
    /// Creates a failure. The error must not contain URLs, because their paths and queries may contain keys.
    pub(super) fn new(error: impl Into<Box<dyn Error + Send + Sync>>, is_connect: bool, is_timeout: bool) -> Self {
        Self {
            error: error.into(),
            is_connect,
            is_timeout,
            is_invalid_request: false,
        }
    }

    /// Creates the failure of a request that cannot be sent.
    pub(super) fn invalid_request(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            is_invalid_request: true,
            ..Self::new(error, false, false)
        }
    }

    /// Returns the error and its causes, including those inside I/O errors, whose `source()` skips the error they wrap.
    pub(super) fn causes(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        let error: &(dyn Error + 'static) = self.error.as_ref();
        std::iter::successors(Some(error), |&cause| {
            match cause.downcast_ref().and_then(|io: &io::Error| io.get_ref()) {
                Some(inner) => Some(inner as _),
                None => cause.source(),
            }
        })
    }

    /// Returns the kind of the first I/O error.
    pub(super) fn io_kind(&self) -> Option<io::ErrorKind> {
        self.causes()
            .find_map(|cause| cause.downcast_ref())
            .map(io::Error::kind)
    }

    /// Returns the error, as the source of another.
    pub(super) fn into_source(self) -> Box<dyn Error + Send + Sync> {
        self.error
    }
}
