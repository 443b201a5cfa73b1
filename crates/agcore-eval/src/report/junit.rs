//! Reports as JUnit XML.

use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::results::{CaseResult, Report};
use crate::error::EvalError;

impl Report {
    /// Writes the report as JUnit XML, which CI systems show. Cases that could not run are errors, the others failures.
    ///
    /// # Errors
    /// When the document cannot be written.
    pub fn to_junit(&self) -> Result<String, EvalError> {
        let mut suite = TestSuite::new(self.suite.as_str());
        suite.add_test_cases(self.results.iter().map(|result| test_case(&self.suite, result)));
        let mut report = quick_junit::Report::new(self.suite.as_str());
        report.add_test_suite(suite);
        report
            .to_string()
            .map_err(|error| EvalError::new("the report cannot be written as JUnit XML").with_source(error))
    }
}

fn test_case(suite: &str, result: &CaseResult) -> TestCase {
    let status = match (&result.error, result.is_passed()) {
        (_, true) => TestCaseStatus::success(),
        (Some(_), false) => failure(NonSuccessKind::Error, result),
        (None, false) => failure(NonSuccessKind::Failure, result),
    };
    let mut case = TestCase::new(result.title(), status);
    case.set_classname(suite);
    case.set_time(Duration::from_millis(result.duration_ms));
    case
}

fn failure(kind: NonSuccessKind, result: &CaseResult) -> TestCaseStatus {
    let problems: Vec<String> = result
        .problems()
        .map(|(name, problem)| format!("{name}: {problem}"))
        .collect();
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(problems.first().cloned().unwrap_or_default());
    status.set_type(result.problems().next().map_or("error", |(name, _)| name).to_owned());
    status.set_description(problems.join("\n"));
    status
}
