//! `deny`: licenses, bans and sources of dependencies, checked by cargo-deny with `deny.toml`.
//!
//! Advisories are not checked here, because their database is remote and changes independently of this repository.

mod tool;
mod verdict;

use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::workspace::Workspace;

use tool::Tool;

const CHECKS: &[&str] = &["bans", "licenses", "sources"];

/// Runs cargo-deny, installing it first if it is missing.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    match tool::find_or_install(workspace) {
        Ok(Tool::Ready(program)) => {
            let mut command = workspace.cargo.tool(&program, ["deny", "--color", "never", "check"]);
            let output = process::capture(command.args(CHECKS));
            match output {
                Ok(output) => {
                    for check in verdict::read(CHECKS, &output) {
                        report.add(&check);
                    }
                }
                Err(error) => report.add(&Check::from_result("deny", Err(error))),
            }
        }
        Ok(Tool::Unreachable(reason)) => {
            for name in CHECKS {
                report.add(&Check::skipped(*name, &reason));
            }
        }
        Err(error) => report.add(&Check::from_result("deny", Err(error))),
    }
}
