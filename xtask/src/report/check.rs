//! A check: a name and its outcome.

use std::path::Path;

use crate::process::Logged;
use crate::report::finding::Finding;

/// Number of lines of a log that a failed check repeats.
const TAIL: usize = 60;

/// One named check after it ran.
#[derive(Debug)]
pub(crate) struct Check {
    name: String,
    note: Option<String>,
    outcome: Outcome,
}

/// The outcome of a check.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    Failed(Vec<Finding>),
    /// The check could not run, for this reason. Never counted as passed.
    Skipped(String),
}

impl Check {
    /// Creates a check that passed if there are no findings and failed otherwise.
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
            note: None,
            outcome,
        }
    }

    /// Creates a check that did not run, for the given reason.
    pub(crate) fn skipped(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            note: None,
            outcome: Outcome::Skipped(reason.into()),
        }
    }

    /// Creates a check from its findings; an error counts as a failure.
    pub(crate) fn from_result(name: impl Into<String>, result: anyhow::Result<Vec<Finding>>) -> Self {
        let name = name.into();
        let findings = result.unwrap_or_else(|error| {
            let problem = format!("the check could not run: {error:#}");
            vec![Finding::new(&name, problem, "fix the cause and run the check again")]
        });
        Self::new(name, findings)
    }

    /// Creates a check that consists of one command and passes if the command succeeded. `root` shortens the path of
    /// the log.
    pub(crate) fn command(name: impl Into<String>, result: anyhow::Result<Logged>, root: &Path, remedy: &str) -> Self {
        let name = name.into();
        let findings = result.map(|logged| match logged.succeeded {
            true => Vec::new(),
            false => vec![Finding::new(&name, logged.failure(root, TAIL), remedy)],
        });
        Self::from_result(name, findings)
    }

    /// Adds a short remark that is printed after the name, such as a count.
    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    pub(crate) fn is_passed(&self) -> bool {
        matches!(self.outcome, Outcome::Passed)
    }

    pub(crate) fn outcome(&self) -> &Outcome {
        &self.outcome
    }
}
