//! [`Check`], and [`Checks`], which collects them.

use serde::{Deserialize, Serialize};

/// One check of a case, and whether it passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Check {
    /// The expectation, such as `answer.contains`.
    pub name: String,
    /// The problem; `None` if the check passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Check {
    /// Creates a check that passed.
    pub fn passed(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            problem: None,
        }
    }

    /// Creates a check that failed.
    pub fn failed(name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            problem: Some(problem.into()),
        }
    }

    /// Returns whether it passed.
    pub fn is_passed(&self) -> bool {
        self.problem.is_none()
    }
}

/// Collects checks.
#[derive(Default)]
pub(super) struct Checks(Vec<Check>);

impl Checks {
    pub(super) fn add(&mut self, name: &str, problem: Option<String>) {
        self.0.push(Check {
            name: name.to_owned(),
            problem,
        });
    }

    pub(super) fn into_list(self) -> Vec<Check> {
        self.0
    }
}
