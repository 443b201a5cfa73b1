//! [`TrajectoryError`]: why a trajectory cannot be read or written.

use std::{error::Error, fmt};

/// The reason a trajectory cannot be read or written.
#[derive(Debug)]
pub struct TrajectoryError {
    /// The line of the document, from 1.
    line: Option<usize>,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl TrajectoryError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            line: None,
            message: message.into(),
            source: None,
        }
    }

    pub(super) fn invalid(source: impl Error + Send + Sync + 'static) -> Self {
        Self {
            source: Some(Box::new(source)),
            ..Self::new("the steps of the trajectory do not follow from each other; it was changed or cut")
        }
    }

    pub(super) fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    pub(super) fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// Returns the line of the document that cannot be read, from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for TrajectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl Error for TrajectoryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
