//! `soak`: the tests with their long counts.
//!
//! When `AGCORE_SOAK` is set, random tests and kill tests run many times more cases. They are built with optimisations,
//! but with overflow checks and debug assertions, into their own folder.

use crate::process;
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

/// Runs the tests whose names contain `filter`, or all of them without a filter. Returns `false` if one of them failed.
pub(crate) fn run(workspace: &Workspace, filter: Option<&str>) -> anyhow::Result<bool> {
    let cargo = workspace.cargo.clone().without_incremental();
    let mut command = cargo.command(ARGUMENTS);
    command.env(VARIABLE, "1");
    if let Some(filter) = filter {
        command.args(["--", filter]);
    }
    process::succeeds(&mut command)
}
