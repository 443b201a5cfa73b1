//! `clippy`: no warning of the compiler or of clippy in any target.

use crate::check::Check;
use crate::process;
use crate::report::Report;
use crate::workspace::Workspace;

const ARGUMENTS: &[&str] = &[
    "clippy",
    "--workspace",
    "--all-targets",
    "--all-features",
    "--keep-going",
    "--",
    "--deny",
    "warnings",
];

/// Runs the check.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    let outcome = process::succeeds(&mut workspace.cargo.command(ARGUMENTS));
    let remedy = "mend the warnings; where one is wrong, say so with #[expect(lint, reason = \"…\")]";
    report.add(&Check::command("clippy", outcome, remedy));
}
