//! `soak`: the tests with their long counts.
//!
//! When `AGCORE_SOAK` is set, random tests and kill tests run many times more cases. They are built with optimisations,
//! but with overflow checks and debug assertions, into their own folder.

use std::process::Command;

use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::report::counts;
use crate::workspace::Workspace;

/// The environment variable that the tests read.
pub(crate) const VARIABLE: &str = "AGCORE_SOAK";

/// The arguments of cargo, which define a profile for this command only.
const ARGUMENTS: &[&str] = &[
    "--config",
    "profile.soak.inherits=\"dev\"",
    "--config",
    "profile.soak.opt-level=2",
    "test",
    "--workspace",
    "--all-features",
    "--tests",
    "--no-fail-fast",
    "--profile",
    "soak",
];

/// Runs all of them as a stage, with their counts.
pub(crate) fn stage(workspace: &Workspace, report: &mut Report) {
    let result = process::logged(&mut command(workspace), &workspace.log("soak"));
    let counts = result.as_ref().map(|logged| counts::from_cargo_test(&logged.text));
    let counts = counts.unwrap_or_default();
    let remedy = "fix the tests; `cargo xtask soak NAME` runs a single one";
    let check = Check::command("soak", result, &workspace.root, remedy);
    report.add_tests(&check.with_note(format!("{} passed", counts.passed)), counts);
}

/// Runs the tests whose names contain `filter`, or all of them without a filter. Returns `false` if one of them failed.
pub(crate) fn run(workspace: &Workspace, filter: Option<&str>) -> anyhow::Result<bool> {
    let mut command = command(workspace);
    if let Some(filter) = filter {
        command.args(["--", filter]);
    }
    process::succeeds(&mut command)
}

fn command(workspace: &Workspace) -> Command {
    let cargo = workspace.cargo.clone().without_incremental();
    let mut command = cargo.command(ARGUMENTS);
    command.env(VARIABLE, "1");
    command
}
