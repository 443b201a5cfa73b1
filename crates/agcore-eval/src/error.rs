//! [`SuiteError`]: a problem of a file of cases. [`EvalError`]: why a case could not run.

use std::{error::Error, fmt};

use agcore_document::{DocumentError, Place};

/// A problem of a file of cases, and its place.
///
/// ```
/// use agcore_eval::{Format, Suite};
///
/// let error = Suite::parse("suite.toml", Format::Toml, "name = \"math\"\nkases = []").unwrap_err();
/// assert_eq!(error.to_string(), "suite.toml:2:1: there is no member `kases`; did you mean `cases`?");
/// assert_eq!(error.place().line, 2);
/// ```
#[derive(Debug)]
pub struct SuiteError {
    file: String,
    place: Place,
    /// The member, such as `cases[0].expect`; empty for the document itself.
    member: String,
    problem: String,
}

impl SuiteError {
    pub(crate) fn new(file: &str, place: Place, member: String, problem: impl ToString) -> Self {
        Self {
            file: file.to_owned(),
            place,
            member,
            problem: problem.to_string(),
        }
    }

    pub(crate) fn of_document(file: &str, error: &DocumentError) -> Self {
        Self::new(file, error.place, error.path.to_string(), &error.kind)
    }

    /// Returns the name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the line and the column.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns the description of the problem.
    pub fn problem(&self) -> &str {
        &self.problem
    }
}

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            place,
            member,
            problem,
        } = self;
        write!(f, "{file}:{place}: ")?;
        if !member.is_empty() {
            write!(f, "{member}: ")?;
        }
        f.write_str(problem)
    }
}

impl Error for SuiteError {}

/// The reason a case could not run, or could not be judged. A model or an agent that fails is not one: that is an
/// [`Observation`](crate::Observation).
#[derive(Debug)]
pub struct EvalError {
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl EvalError {
    /// Creates an error.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for EvalError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
