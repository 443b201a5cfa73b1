//! [`CatalogError`]: everything that is wrong with a catalog.

use std::fmt;

use agcore_document::Place;

use crate::problem::Problem;

/// A problem of a catalog and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CatalogProblem {
    /// The place.
    pub place: Place,
    /// The field, its value and the rule that it violates.
    pub problem: Problem,
}

/// Everything that is wrong with a catalog, in the order of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CatalogError {
    /// The name of the document.
    pub file: String,
    /// The problems; at least one.
    pub problems: Vec<CatalogProblem>,
}

impl CatalogError {
    pub(crate) fn new(file: &str, mut problems: Vec<CatalogProblem>) -> Self {
        problems.sort_by_key(|problem| problem.place);
        Self {
            file: file.to_owned(),
            problems,
        }
    }

    /// Creates the error of a document that cannot be read.
    pub fn unreadable(file: &str, error: impl fmt::Display) -> Self {
        let problem = Problem::shown(
            "document",
            error,
            "it must be readable; check the path and its permissions",
        );
        let place = Place::default();
        Self::new(file, vec![CatalogProblem { place, problem }])
    }

    /// Creates the error of a catalog whose providers cannot be built.
    #[cfg(feature = "router")]
    pub(crate) fn unusable(file: &str, error: impl fmt::Display) -> Self {
        let problem = Problem::shown("vendors", error, "the providers of all vendors can be built");
        let place = Place::default();
        Self::new(file, vec![CatalogProblem { place, problem }])
    }
}

/// Formats each problem on a line of its own, like `models.toml:12:5: vendors[0].name: "" is refused: …`.
impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, CatalogProblem { place, problem }) in self.problems.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "\n" })?;
            match place.line {
                0 => write!(f, "{}: {problem}", self.file)?,
                _ => write!(f, "{}:{place}: {problem}", self.file)?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for CatalogError {}
