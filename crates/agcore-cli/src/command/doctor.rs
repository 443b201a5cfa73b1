//! `agcore doctor`: what a chat needs, looked at piece by piece, and what to do.

mod check;
mod settings;
mod server;
mod surroundings;

use std::io;

use serde_json::json;

use self::check::{Check, Status};
use crate::{
    args::ReportArgs,
    exit::{Failure, FailureKind},
    output::print,
    render::{Colour, harmless_line, wrapped},
    settings::Choices,
};

/// Columns of status and name.
const INDENT: usize = 16;

/// Looks at everything, and tells it as it goes.
///
/// # Errors
/// When something fails: the kind of the first that does.
pub(crate) async fn run(args: &ReportArgs, colour: Colour) -> Result<(), Failure> {
    let mut report = Report {
        colour,
        is_json: args.json,
        checks: Vec::new(),
    };
    match Choices::gather(&args.settings) {
        Ok(choices) => {
            report.add(settings::checks(&choices))?;
            report.add(server::checks(&choices).await)?;
        }
        Err(failure) => report.add(vec![Check::fail("settings", &failure)])?,
    }
    report.add(surroundings::checks(colour))?;
    report.end()
}

/// What was found so far.
struct Report {
    colour: Colour,
    is_json: bool,
    checks: Vec<Check>,
}

impl Report {
    fn add(&mut self, checks: Vec<Check>) -> Result<(), Failure> {
        if !self.is_json {
            checks.iter().try_for_each(|check| print(&self.line(check)))?;
        }
        self.checks.extend(checks);
        Ok(())
    }

    /// `ok    key       set (environment, OPENAI_API_KEY)`, and what to do beneath it.
    fn line(&self, check: &Check) -> String {
        let palette = self.colour.palette(&io::stdout());
        let (style, word) = match check.status {
            Status::Ok => (palette.good, "ok"),
            Status::Warn => (palette.doubtful, "warn"),
            Status::Fail => (palette.bad, "fail"),
        };
        let first = format!("{word:<5} {:<9} {}", check.name, harmless_line(&check.message));
        let mut line = wrapped(&first, INDENT).replacen(word, &format!("{style}{word}{style:#}"), 1) + "\n";
        for advice in check.advice.iter().flat_map(|advice| advice.lines()) {
            let advice = wrapped(&format!("{:INDENT$}→ {}", "", harmless_line(advice)), INDENT + 2);
            line += &(advice + "\n");
        }
        line
    }

    fn end(&self) -> Result<(), Failure> {
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
