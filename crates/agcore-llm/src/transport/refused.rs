//! [`LocallyRefused`]: marks a connection that this machine itself refused.

use std::{error::Error, fmt};

use agcore_wire::LlmError;

/// The source of an error because no server listens on a port of this machine. It displays the error that it contains.
#[derive(Debug)]
pub(crate) struct LocallyRefused(Box<dyn Error + Send + Sync>);

impl LocallyRefused {
    #[cfg(feature = "_http")]
    pub(crate) fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(source.into())
    }

    /// Returns whether the error has this cause.
    pub(crate) fn caused(error: &LlmError) -> bool {
        std::iter::successors(error.source(), |&cause| cause.source()).any(<dyn Error>::is::<Self>)
    }
}

impl fmt::Display for LocallyRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for LocallyRefused {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
