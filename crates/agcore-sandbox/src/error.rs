//! [`SandboxError`]: why a sandbox cannot be used.

use std::{error::Error, fmt, io, path::Path};

/// An error of a sandbox. It states what happened, why, and what to do next.
#[derive(Debug)]
pub struct SandboxError {
    message: String,
    source: Option<io::Error>,
    is_unavailable: bool,
}

impl SandboxError {
    /// Creates the error of a system that has no sandbox.
    pub(crate) fn unavailable(reason: &str) -> Self {
        Self {
            message: format!("commands cannot be confined on this system: {reason}"),
            source: None,
            is_unavailable: true,
        }
    }

    /// Creates the error of a step that failed.
    pub(crate) fn failed(what: impl Into<String>, source: io::Error) -> Self {
        Self {
            message: format!("{}: {source}", what.into()),
            source: Some(source),
            is_unavailable: false,
        }
    }

    /// Creates the error of a path that cannot be part of a policy.
    pub(crate) fn path(path: &Path, source: io::Error) -> Self {
        Self::failed(format!("the sandbox cannot use the path {}", path.display()), source)
    }

    /// Returns whether the system cannot confine commands at all, so that no other policy would help.
    pub fn is_unavailable(&self) -> bool {
        self.is_unavailable
    }
}

impl fmt::Display for SandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for SandboxError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| source as &(dyn Error + 'static))
    }
}
