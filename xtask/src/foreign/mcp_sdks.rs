//! `mcp-sdks`: runs our MCP server and client with the SDKs of other languages, and our client with the reference servers.
//!
//! The SDKs are installed from npm and PyPI into the target folder. As long as they are not, `test` reports the grid as
//! skipped.

mod install;
mod grid;
mod peer;

use grid::{CLIENT, SERVER};

use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::workspace::Workspace;

/// The examples that the grid runs. They need its arguments.
pub(crate) const PROGRAMS: [&str; 2] = [CLIENT, SERVER];

/// The name of the check in the stage `test`.
const CHECK: &str = "MCP SDKs";

/// The arguments that build our programs.
const BUILD: &[&str] = &[
    "build",
    "--package",
    "agcore-mcp",
    "--all-features",
    "--example",
    CLIENT,
    "--example",
    SERVER,
];

/// Installs the SDKs if they are missing, and runs the grid. Returns `false` if a cell failed.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<bool> {
    if let Some(reason) = install::unavailable() {
        println!("skipped: mcp-sdks: {reason}");
        return Ok(true);
    }
    install::all(workspace)?;
    if !process::succeeds(&mut workspace.cargo.command(BUILD))? {
        return Ok(false);
    }
    let cells = grid::run(workspace)?;
    for cell in &cells {
        println!("{cell}");
    }
    let failed = cells.iter().filter(|cell| !cell.failures.is_empty()).count();
    println!("{} of {} pass", cells.len() - failed, cells.len());
    Ok(failed == 0)
}

/// Runs the grid as a check, if the SDKs are installed.
pub(crate) fn report(workspace: &Workspace, report: &mut Report) {
    let missing = install::unavailable().or_else(|| install::missing(workspace));
    report.add(&match missing {
        Some(reason) => Check::skipped(CHECK, reason),
        None => Check::from_result(CHECK, findings(workspace)),
    });
}

fn findings(workspace: &Workspace) -> anyhow::Result<Vec<Finding>> {
    process::stdout(&mut workspace.cargo.command(BUILD))?;
    let cells = grid::run(workspace)?.into_iter();
    let failed = cells.filter(|cell| !cell.failures.is_empty());
    Ok(failed
        .map(|cell| Finding::new(cell.name, cell.failures.join("; "), "run `cargo xtask mcp-sdks`"))
        .collect())
}
