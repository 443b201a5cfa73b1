//! The test runners: nextest if it is installed, otherwise `cargo test`.

use std::num::NonZero;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::process::{self, Cargo};
use crate::report::Report;
use crate::report::check::Check;
use crate::report::counts::{self, Counts};
use crate::workspace::Workspace;

use super::slowest;

/// The same packages and features as for clippy and docs, so that dependencies are built once.
const EVERYTHING: &[&str] = &["--workspace", "--all-features", "--no-fail-fast"];

/// The time after which a runner is ended, because tests hang: about three times as long as all of them take.
const LONGEST: Duration = Duration::from_secs(45 * 60);

/// The output of nextest: a line for each test, from which the slowest are read, and the output of those that failed.
const OUTPUT: &[&str] = &[
    "--no-tests",
    "pass",
    "--status-level",
    "pass",
    "--failure-output",
    "final",
];

/// Runs the tests in `src` and `tests` of every package.
pub(crate) fn unit_and_integration(workspace: &Workspace, report: &mut Report) {
    units(workspace, &[], report);
}

/// Runs the same tests of some packages. They are built with the features of the whole workspace, so that nothing is
/// built twice.
pub(super) fn of_packages(workspace: &Workspace, packages: &[String], report: &mut Report) {
    units(workspace, packages, report);
}

/// Runs the tests of some packages; of all, if there are none.
fn units(workspace: &Workspace, packages: &[String], report: &mut Report) {
    let cargo = &workspace.cargo;
    if has_nextest(cargo) {
        let mut command = cargo.command([&["nextest", "run"], EVERYTHING, OUTPUT].concat());
        command.args(["--test-threads", &threads().to_string()]);
        if !packages.is_empty() {
            let filters = packages.iter().map(|package| format!("package(={package})"));
            command.args(["--filterset", &filters.collect::<Vec<_>>().join(" + ")]);
        }
        let log = count("units", &mut command, counts::from_nextest, workspace, report);
        if let Some(slowest) = log.as_deref().and_then(slowest::list) {
            println!("{slowest}");
        }
    } else {
        let mut command = cargo.command(["test", "--tests", "--all-features", "--no-fail-fast"]);
        match packages {
            [] => command.arg("--workspace"),
            packages => command.args(packages.iter().map(|package| format!("--package={package}"))),
        };
        count("units", &mut command, counts::from_cargo_test, workspace, report);
    }
}

/// Returns the number of tests that run at a time: more than there are processors, because many wait for processes, servers and
/// terminals.
fn threads() -> usize {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    processors + processors.div_ceil(2)
}

/// Runs the examples in doc comments, which nextest does not.
pub(crate) fn doc_tests(workspace: &Workspace, report: &mut Report) {
    let mut command = workspace.cargo.command([&["test", "--doc"], EVERYTHING].concat());
    count("doc-tests", &mut command, counts::from_cargo_test, workspace, report);
}

/// Runs a command that runs tests, and counts them. Returns its output.
fn count(
    name: &str,
    command: &mut Command,
    parse: fn(&str) -> Counts,
    workspace: &Workspace,
    report: &mut Report,
) -> Option<String> {
    let result = process::logged_within(LONGEST, command, &workspace.log(&format!("test-{name}")));
    let text = result.as_ref().ok().map(|logged| logged.text.clone());
    let counts = text.as_deref().map(parse).unwrap_or_default();
    let remedy = "fix the tests; a single one runs with `cargo test --package <crate> <name>`";
    let check = Check::command(name, result, &workspace.root, remedy);
    report.add_tests(&check.with_note(format!("{} passed", counts.passed)), counts);
    text
}

fn has_nextest(cargo: &Cargo) -> bool {
    process::capture(&mut cargo.command(["nextest", "--version"])).is_ok_and(|output| output.status.success())
}
