//! `test`: unit tests, integration tests, doc tests, and the examples.

mod model_server;
mod example;
mod runner;

use crate::agui;
use crate::mcp_sdks;
use crate::report::Report;
use crate::sdk_types;
use crate::workspace::Workspace;

/// Runs all of them.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    runner::unit_and_integration(workspace, report);
    sdk_types::report_if_skipped(workspace, report);
    agui::report_if_skipped(workspace, report);
    mcp_sdks::report(workspace, report);
    runner::doc_tests(workspace, report);
    example::run_all(workspace, report);
}
