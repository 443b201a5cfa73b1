//! `agcore doctor`: checks everything that a chat needs, and suggests fixes.

mod check;
mod settings;
mod named;
mod proxy;
mod server;
mod sandbox;
mod system;

use std::io;

use agcore_args::ReportArgs;
use agcore_settings::Choices;
use agcore_terminal::render::{Color, sanitized_line, wrapped_with_paths};
use serde_json::json;

use self::check::Status;

use crate::{
    exit::{Failure, FailureKind},
    stdout::print,
};

pub(in crate::command) use self::check::Check;

/// The width of the columns for status and name.
const INDENT: usize = 16;

/// Runs all checks and prints each result as it is available.
///
/// # Errors
/// When a check fails, with the kind of the first failure.
pub(crate) async fn run(args: &ReportArgs, color: Color) -> Result<(), Failure> {
    let mut report = Report::new(args.json, color);
    match Choices::read(&args.settings) {
        Ok(choices) => {
            report.add(settings::checks(&choices))?;
            report.add(vec![sandbox::check(&choices)])?;
            report.add(proxy::check(&choices).into_iter().collect())?;
            report.add(named::checks(&choices).await)?;
            // Whether a key is needed is known only when the server was asked.
            let (answer, checks) = server::checks(&choices).await;
            report.add(vec![settings::key(&choices, answer)])?;
            report.add(checks)?;
        }
        Err(error) => report.add(vec![Check::fail("settings", &error.into())])?,
    }
    report.add(system::checks(color))?;
    report.finish()
}

/// The results so far.
pub(in crate::command) struct Report {
    color: Color,
    is_json: bool,
    checks: Vec<Check>,
}

impl Report {
    /// Creates an empty report, printed as JSON or as lines.
    pub(in crate::command) fn new(is_json: bool, color: Color) -> Self {
        Self {
            color,
            is_json,
            checks: Vec::new(),
        }
    }

    /// Adds results, and prints them unless the report is JSON.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(in crate::command) fn add(&mut self, checks: Vec<Check>) -> Result<(), Failure> {
        if !self.is_json {
            checks.iter().try_for_each(|check| print(&self.line(check)))?;
        }
        self.checks.extend(checks);
        Ok(())
    }

    /// Formats a check, followed by its advice: `ok    key       set (environment, OPENAI_API_KEY)`.
    fn line(&self, check: &Check) -> String {
        let palette = self.color.palette(&io::stdout());
        let (style, word) = match check.status {
            Status::Ok => (palette.success, "ok"),
            Status::Warn => (palette.warning, "warn"),
            Status::Fail => (palette.error, "fail"),
        };
        let (name, message) = (sanitized_line(&check.name), sanitized_line(&check.message));
        let first = format!("{word:<5} {name:<9} {message}");
        let mut line = wrapped_with_paths(&first, INDENT).replacen(word, &format!("{style}{word}{style:#}"), 1) + "\n";
        for advice in check.advice.iter().flat_map(|advice| advice.lines()) {
            let advice = wrapped_with_paths(&format!("{:INDENT$}→ {}", "", sanitized_line(advice)), INDENT + 2);
            line += &(advice + "\n");
        }
        line
    }

    /// Ends the report.
    ///
    /// # Errors
    /// When a check failed, with the kind of the first failure, or the output cannot be written.
    pub(in crate::command) fn finish(&self) -> Result<(), Failure> {
        let failed: Vec<FailureKind> = self.checks.iter().filter_map(|check| check.kind).collect();
        if self.is_json {
            let report = json!({"ok": failed.is_empty(), "checks": self.checks});
            print(&format!("{report:#}\n"))?;
        }
        match failed.first() {
            None => Ok(()),
            Some(kind) => Err(Failure::new(
                *kind,
                format!("{} of {} checks failed", failed.len(), self.checks.len()),
            )),
        }
    }
}
