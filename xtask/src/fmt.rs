//! `fmt`: every file is as rustfmt writes it.

use crate::check::Check;
use crate::process;
use crate::report::Report;
use crate::workspace::Workspace;

/// Runs the check.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    let mut command = workspace.cargo.command(["fmt", "--all", "--check"]);
    let outcome = process::succeeds(&mut command);
    report.add(&Check::command("fmt", outcome, "run `cargo fmt --all`"));
}
