//! `test`: unit tests, integration tests, doc tests, and the examples.

mod model_server;
mod example;
mod changed;
mod slowest;
mod runner;
pub(crate) mod upgrade;

use crate::foreign::agui;
use crate::foreign::mcp_sdks;
use crate::foreign::sdk_types;
use crate::report::Report;
use crate::report::check::Check;
use crate::workspace::Workspace;

/// Runs the unit and integration tests that the changes since a commit can affect.
pub(crate) fn run_changed(workspace: &Workspace, since: Option<&str>, report: &mut Report) {
    match changed::affected(workspace, since) {
        Ok(packages) if packages.is_empty() => report.add(&Check::skipped("units", "no package has changed")),
        Ok(packages) => runner::of_packages(workspace, &packages, report),
        Err(error) => report.add(&Check::from_result("units", Err(error))),
    }
}

/// Runs all of them.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    runner::unit_and_integration(workspace, report);
    sdk_types::report_if_skipped(workspace, report);
    agui::report_if_skipped(workspace, report);
    mcp_sdks::report(workspace, report);
    runner::doc_tests(workspace, report);
    example::run_all(workspace, report);
}
