//! `agcore eval diff`: compares two reports.

use std::{fs, path::Path};

use agcore::{
    chat::text::error_chain,
    eval::{CaseChange, Report, ReportDiff},
};
use agcore_args::DiffArgs;
use agcore_terminal::{
    render::{sanitized, sanitized_line},
    table::table,
};
use serde_json::{Value, json};

use crate::{exit::Failure, stdout::print};

/// Compares two reports.
///
/// # Errors
/// When a report cannot be read, a case has become worse, or a new one fails.
pub(super) fn diff(args: &DiffArgs) -> Result<(), Failure> {
    let diff = read(&args.before)?.diff(&read(&args.after)?);
    match args.json {
        true => print(&format!("{:#}\n", as_json(&diff)))?,
        false => print(&text(&diff))?,
    }
    match diff.has_regressions() {
        true => Err(Failure::task("some cases have become worse")),
        false => Ok(()),
    }
}

fn read(path: &Path) -> Result<Report, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    Report::from_json(&text).map_err(|error| Failure::usage(format!("cannot read {name}: {}", error_chain(&error))))
}

fn text(diff: &ReportDiff) -> String {
    let rows: Vec<[String; 5]> = diff.cases.iter().map(row).collect();
    let mut text = String::new();
    for (line, case) in table(&rows).lines().zip(&diff.cases) {
        text += &format!("{line}\n");
        if let Some(problem) = &case.problem {
            text += &format!("    {}\n", sanitized(problem).trim_end().replace('\n', "\n    "));
        }
    }
    text
}

fn row(case: &CaseChange) -> [String; 5] {
    let passed = |(passed, count): (usize, usize)| match count {
        0 => "-".to_owned(),
        count => format!("{passed}/{count}"),
    };
    [
        case.change.as_str().to_owned(),
        sanitized_line(&case.case),
        format!("{} → {} passed", passed(case.before), passed(case.after)),
        format!("{} → {} steps", case.steps.0, case.steps.1),
        case.tokens
            .map_or_else(String::new, |(before, after)| format!("{before} → {after} tokens")),
    ]
}

fn as_json(diff: &ReportDiff) -> Value {
    let cases = diff.cases.iter().map(|case| {
        json!({
            "case": case.case,
            "change": case.change.as_str(),
            "before": {"passed": case.before.0, "runs": case.before.1, "steps": case.steps.0,
                "tokens": case.tokens.map(|tokens| tokens.0)},
            "after": {"passed": case.after.0, "runs": case.after.1, "steps": case.steps.1,
                "tokens": case.tokens.map(|tokens| tokens.1)},
            "problem": case.problem,
        })
    });
    json!({"regressions": diff.has_regressions(), "cases": cases.collect::<Vec<_>>()})
}
