//! The test runners: nextest where it is installed, else `cargo test`.

use std::process::Command;

use crate::check::Check;
use crate::counts::{self, Counts};
use crate::process::{self, Cargo};
use crate::report::Report;
use crate::workspace::Workspace;

/// The same packages and features as in clippy and docs, so that dependencies
/// are built once.
const EVERYTHING: &[&str] = &["--workspace", "--all-features", "--no-fail-fast"];

/// Tests in `src` and `tests` of every package.
pub(crate) fn unit_and_integration(workspace: &Workspace, report: &mut Report) {
    let cargo = &workspace.cargo;
    if has_nextest(cargo) {
        let arguments = [&["nextest", "run"], EVERYTHING, &["--no-tests", "pass"]].concat();
        let mut command = cargo.command(arguments);
        count("nextest", &mut command, counts::from_nextest, report);
    } else {
        let mut command = cargo.command([&["test", "--tests"], EVERYTHING].concat());
        count("cargo test", &mut command, counts::from_cargo_test, report);
    }
}

/// The examples in doc comments, which nextest does not run.
pub(crate) fn doc_tests(workspace: &Workspace, report: &mut Report) {
    let mut command = workspace.cargo.command([&["test", "--doc"], EVERYTHING].concat());
    count("doc tests", &mut command, counts::from_cargo_test, report);
}

fn count(name: &str, command: &mut Command, read: fn(&str) -> Counts, report: &mut Report) {
    match process::show(command) {
        Ok(shown) => report.add_tests(name, read(&shown.text), shown.succeeded),
        Err(error) => report.add(&Check::from_result(name, Err(error))),
    }
}

fn has_nextest(cargo: &Cargo) -> bool {
    process::capture(&mut cargo.command(["nextest", "--version"])).is_ok_and(|output| output.status.success())
}
