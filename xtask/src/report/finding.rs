//! A finding: one problem, where it is, and what to do about it.

use std::fmt;

/// One problem that a check found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    place: String,
    problem: String,
    remedy: String,
}

impl Finding {
    /// Creates a finding. `place` is a file (with its line where known), a crate, or a command.
    pub(crate) fn new(place: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.place, self.problem)?;
        write!(f, "    do: {}", self.remedy)
    }
}
