//! [`Report`] and [`CaseResult`].

use agcore_chat::Money;
use serde::{Deserialize, Serialize};

use crate::{check::Check, error::EvalError};

/// The version of the JSON form that this code writes. It reads the same one.
const VERSION: u32 = 1;

/// The results of an evaluation, as data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    version: u32,
    /// The name of the suite.
    pub suite: String,
    /// The results, in the order of the cases and of their runs.
    pub results: Vec<CaseResult>,
}

/// The result of one run of a case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CaseResult {
    /// The name of the case.
    pub case: String,
    /// The number of the run, from 1.
    pub run: u32,
    /// The checks. There are none if the case could not run.
    pub checks: Vec<Check>,
    /// The reason why the case could not run, or not be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The last answer.
    pub answer: String,
    /// The names of the tools that were called, in order.
    pub tools: Vec<String>,
    /// The number of calls of the model.
    pub steps: u64,
    /// The tokens, if all are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The costs, with an amount for each currency; empty if they are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<Money>,
    /// The duration in milliseconds, without the judgement.
    pub duration_ms: u64,
}

impl CaseResult {
    /// Returns whether the case ran and all of its checks passed.
    pub fn is_passed(&self) -> bool {
        self.error.is_none() && self.checks.iter().all(Check::is_passed)
    }

    /// Returns everything that was wrong, each with the name of its check.
    pub fn problems(&self) -> impl Iterator<Item = (&str, &str)> {
        let error = self.error.as_deref().map(|error| ("error", error));
        let checks = self.checks.iter();
        error
            .into_iter()
            .chain(checks.filter_map(|check| Some((check.name.as_str(), check.problem.as_deref()?))))
    }

    /// Returns the name of the case, with the number of the run if it is not the first.
    pub fn title(&self) -> String {
        match self.run {
            0 | 1 => self.case.clone(),
            run => format!("{} ({run})", self.case),
        }
    }
}

impl Report {
    /// Creates a report.
    pub fn new(suite: impl Into<String>, results: impl IntoIterator<Item = CaseResult>) -> Self {
        Self {
            version: VERSION,
            suite: suite.into(),
            results: results.into_iter().collect(),
        }
    }

    /// Returns the number of runs that passed.
    pub fn passed(&self) -> usize {
        self.results.iter().filter(|result| result.is_passed()).count()
    }

    /// Returns the number of runs that failed.
    pub fn failed(&self) -> usize {
        self.results.len() - self.passed()
    }

    /// Returns whether all runs passed, and there was at least one.
    pub fn is_success(&self) -> bool {
        !self.results.is_empty() && self.failed() == 0
    }

    /// Writes the report as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// When the text is not a report, or one of another version.
    pub fn from_json(text: &str) -> Result<Self, EvalError> {
        let report: Self = serde_json::from_str(text)
            .map_err(|error| EvalError::new("this is not a report of an evaluation").with_source(error))?;
        if report.version != VERSION {
            let problem = format!(
                "the report has version {}, but this program reads version {VERSION}; write it again",
                report.version
            );
            return Err(EvalError::new(problem));
        }
        Ok(report)
    }
}
