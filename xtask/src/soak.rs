//! `soak`: the tests with their long counts.
//!
//! Random and kill tests read `AGCORE_SOAK` and then run many times more
//! cases. They are optimised for that, with overflow checks and debug
//! assertions left on, in a folder of their own.

use crate::process;
use crate::workspace::Workspace;

/// What the tests ask for.
const VARIABLE: &str = "AGCORE_SOAK";

/// A profile that only this command knows.
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

/// Runs the tests whose names contain `filter`; all without one. `false` when
/// one of them failed.
pub(crate) fn run(workspace: &Workspace, filter: Option<&str>) -> anyhow::Result<bool> {
    let cargo = workspace.cargo.clone().without_incremental();
    let mut command = cargo.command(ARGUMENTS);
    command.env(VARIABLE, "1");
    if let Some(filter) = filter {
        command.args(["--", filter]);
    }
    process::succeeds(&mut command)
}
