//! `deny`: what dependencies are and where they come from, by cargo-deny and
//! `deny.toml`. Advisories are not looked up: their database lives elsewhere
//! and changes without us.

mod tool;
mod verdict;

use crate::check::Check;
use crate::process;
use crate::report::Report;
use crate::workspace::Workspace;

use tool::Tool;

const CHECKS: &[&str] = &["bans", "licenses", "sources"];

/// Runs cargo-deny, after installing it where it is missing.
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
        Ok(Tool::OutOfReach(reason)) => {
            for name in CHECKS {
                report.add(&Check::skipped(*name, &reason));
            }
        }
        Err(error) => report.add(&Check::from_result("deny", Err(error))),
    }
}
