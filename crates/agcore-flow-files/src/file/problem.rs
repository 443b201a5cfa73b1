//! [`FileProblem`]: a problem of a flow file.

use std::{error::Error, fmt};

use agcore_document::Place;

/// A problem of a flow file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileProblem {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The problem, and what to do about it.
    pub message: String,
}

/// All problems of a flow file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowFileError {
    problems: Vec<FileProblem>,
}

/// The problems that were found so far.
#[derive(Default)]
pub(super) struct Problems(Vec<FileProblem>);

impl FlowFileError {
    /// Returns the problems, by files and places.
    pub fn problems(&self) -> &[FileProblem] {
        &self.problems
    }
}

impl Problems {
    pub(super) fn add(&mut self, file: &str, place: Place, message: impl Into<String>) {
        self.0.push(FileProblem {
            file: file.to_owned(),
            line: place.line,
            column: place.column,
            message: message.into(),
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_error(self) -> FlowFileError {
        let mut problems = self.0;
        problems.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        FlowFileError { problems }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            message,
        } = self;
        write!(f, "{file}:{line}:{column}: {message}")
    }
}

impl fmt::Display for FlowFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the flow file cannot be used")?;
        self.problems.iter().try_for_each(|problem| write!(f, "; {problem}"))
    }
}

impl Error for FlowFileError {}

/// Lists names in a message.
pub(super) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    names.join(", ")
}
