//! `sdk-types`: validates the request bodies that the wires encode against the types that the vendors publish as
//! Python packages.
//!
//! The packages are installed into a virtual environment in the target folder. A test of agcore-wire encodes the
//! bodies, and `scripts/sdk-types/check.py` validates them. Without the environment that test checks nothing, and `ci`
//! reports it as skipped.

use crate::foreign::python_environment::PythonEnvironment;
use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::workspace::Workspace;

/// The arguments of cargo: all wires are enabled, and the table that the test prints is shown.
const TEST: &[&str] = &[
    "test",
    "--package",
    "agcore-wire",
    "--all-features",
    "--test",
    "it",
    "sdk_types::",
    "--",
    "--nocapture",
];

/// Installs the packages if they are missing and runs the test. Returns `false` if a body is invalid.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<bool> {
    environment(workspace).prepare()?;
    process::succeeds(&mut workspace.cargo.command(TEST))
}

/// Reports a skipped check if the test had no packages to validate against.
pub(crate) fn report_if_skipped(workspace: &Workspace, report: &mut Report) {
    if let Some(missing) = environment(workspace).missing() {
        let reason = format!("{missing}: run `cargo xtask sdk-types`");
        report.add(&Check::skipped("bodies against the types of vendors", reason));
    }
}

/// Returns the packages of the vendors. The test knows their folder as well.
fn environment(workspace: &Workspace) -> PythonEnvironment {
    PythonEnvironment::new(workspace, "sdk-types", "check.py")
}
