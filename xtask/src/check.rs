//! A check: a name and what came of it.

use crate::finding::Finding;

/// One named check after it ran.
#[derive(Debug)]
pub(crate) struct Check {
    name: String,
    outcome: Outcome,
}

/// What came of a check.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    Failed(Vec<Finding>),
    /// It could not run; says why. Never counted as passed.
    Skipped(String),
}

impl Check {
    /// Passed when nothing was found.
    pub(crate) fn new(name: impl Into<String>, mut findings: Vec<Finding>) -> Self {
        findings.sort();
        findings.dedup();
        let outcome = if findings.is_empty() {
            Outcome::Passed
        } else {
            Outcome::Failed(findings)
        };
        Self {
            name: name.into(),
            outcome,
        }
    }

    /// Not run, for the given reason.
    pub(crate) fn skipped(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            outcome: Outcome::Skipped(reason.into()),
        }
    }

    /// A check that could not be carried out is a failed one.
    pub(crate) fn from_result(name: impl Into<String>, result: anyhow::Result<Vec<Finding>>) -> Self {
        let name = name.into();
        let findings = result.unwrap_or_else(|error| {
            let problem = format!("the check could not run: {error:#}");
            vec![Finding::new(&name, problem, "mend the cause and run again")]
        });
        Self::new(name, findings)
    }

    /// A check that is one command: passed when the command succeeded.
    pub(crate) fn command(name: impl Into<String>, succeeded: anyhow::Result<bool>, remedy: &str) -> Self {
        let name = name.into();
        let found = succeeded.map(|ok| match ok {
            true => Vec::new(),
            false => vec![Finding::new(&name, "the command above failed", remedy)],
        });
        Self::from_result(name, found)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_passed(&self) -> bool {
        matches!(self.outcome, Outcome::Passed)
    }

    pub(crate) fn outcome(&self) -> &Outcome {
        &self.outcome
    }
}
