//! The test runners: nextest if it is installed, otherwise `cargo test`.

use std::process::Command;

use crate::check::Check;
use crate::counts::{self, Counts};
use crate::process::{self, Cargo};
use crate::report::Report;
use crate::workspace::Workspace;

/// The same packages and features as for clippy and docs, so that dependencies are built once.
const EVERYTHING: &[&str] = &["--workspace", "--all-features", "--no-fail-fast"];

/// Runs the tests in `src` and `tests` of every package.
pub(crate) fn unit_and_integration(workspace: &Workspace, report: &mut Report) {
    let cargo = &workspace.cargo;
    if has_nextest(cargo) {
        let arguments = [
            &["nextest", "run"],
            EVERYTHING,
            &[
                "--no-tests",
                "pass",
                "--status-level",
                "slow",
                "--failure-output",
                "final",
            ],
        ];
        let mut command = cargo.command(arguments.concat());
        count("units", &mut command, counts::from_nextest, workspace, report);
    } else {
        let mut command = cargo.command([&["test", "--tests"], EVERYTHING].concat());
        count("units", &mut command, counts::from_cargo_test, workspace, report);
    }
}

/// Runs the examples in doc comments, which nextest does not.
pub(crate) fn doc_tests(workspace: &Workspace, report: &mut Report) {
    let mut command = workspace.cargo.command([&["test", "--doc"], EVERYTHING].concat());
    count("doc-tests", &mut command, counts::from_cargo_test, workspace, report);
}

fn count(name: &str, command: &mut Command, parse: fn(&str) -> Counts, workspace: &Workspace, report: &mut Report) {
    let result = process::logged(command, &workspace.log(&format!("test-{name}")));
    let counts = result.as_ref().map(|logged| parse(&logged.text)).unwrap_or_default();
    let remedy = "fix the tests; a single one runs with `cargo test --package <crate> <name>`";
    let check = Check::command(name, result, &workspace.root, remedy);
    report.add_tests(&check.with_note(format!("{} passed", counts.passed)), counts);
}

fn has_nextest(cargo: &Cargo) -> bool {
    process::capture(&mut cargo.command(["nextest", "--version"])).is_ok_and(|output| output.status.success())
}
