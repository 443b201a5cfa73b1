//! [`Report`]: collects the problems of one file.

use agcore_document::{DocumentError, ErrorKind, Place};

use super::problem::Problems;

/// Collects the problems of one file.
pub(super) struct Report<'p> {
    file: String,
    problems: &'p mut Problems,
}

impl<'p> Report<'p> {
    pub(super) fn new(file: &str, problems: &'p mut Problems) -> Self {
        Self {
            file: file.to_owned(),
            problems,
        }
    }

    pub(super) fn problem(&mut self, place: Place, message: impl Into<String>) {
        self.problems.add(&self.file, place, message);
    }

    /// Adds the problems of the form. Members that are missing or unknown are found by their names, other values by their paths.
    pub(super) fn form(&mut self, problems: Vec<DocumentError>) {
        for problem in problems {
            let message = match &problem.kind {
                kind @ (ErrorKind::MissingField(_) | ErrorKind::UnknownField { .. }) => kind.to_string(),
                kind if problem.path.is_empty() => kind.to_string(),
                kind => format!("{}: {kind}", problem.path),
            };
            self.problem(problem.place, message);
        }
    }
}
