//! `sdk-types`: holds the bodies that the wires write against the types that
//! their vendors publish as Python packages.
//!
//! The packages go into an environment of their own in the target folder. The
//! work is done by a test of agcore-llm, which makes the bodies, and by
//! `scripts/sdk-types/check.py`, which knows the types; where the environment
//! is missing, that test cannot check anything, and `ci` says so.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::check::Check;
use crate::process;
use crate::report::Report;
use crate::workspace::Workspace;

/// The test, with the wires that are features, and with its table shown.
const TEST: &[&str] = &[
    "test",
    "--package",
    "agcore-llm",
    "--all-features",
    "--test",
    "it",
    "sdk_types::",
    "--",
    "--nocapture",
];

/// Installs the packages where they are missing and runs the test; `false` when a body is wrong.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<bool> {
    if missing(workspace).is_some() {
        install(workspace)?;
    }
    if let Some(missing) = missing(workspace) {
        bail!("the packages were installed, and yet: {missing}");
    }
    process::succeeds(&mut workspace.cargo.command(TEST))
}

/// Tells that the test had nothing to check with, if so.
pub(crate) fn tell_skipped(workspace: &Workspace, report: &mut Report) {
    if let Some(missing) = missing(workspace) {
        let reason = format!("{missing}: run `cargo xtask sdk-types`");
        report.add(&Check::skipped("bodies against the vendors' types", reason));
    }
}

fn install(workspace: &Workspace) -> anyhow::Result<()> {
    let (base, environment) = (base_python(), environment(workspace));
    if process::capture(Command::new(base).arg("--version")).is_err() {
        bail!("the vendors' types are Python packages, and `{base}` does not run: install Python 3");
    }
    let mut make = Command::new(base);
    make.args(["-m", "venv", "--clear"]).arg(&environment);
    let mut fill = Command::new(python(&environment));
    fill.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--requirement",
    ]);
    fill.arg(scripts(workspace).join("requirements.txt"));
    for command in [&mut make, &mut fill] {
        if !process::succeeds(command)? {
            bail!("the vendors' packages could not be installed; see above");
        }
    }
    Ok(())
}

/// Why the bodies cannot be checked, if so.
fn missing(workspace: &Workspace) -> Option<String> {
    let python = python(&environment(workspace));
    if !python.exists() {
        return Some("there is no Python with the vendors' packages".to_owned());
    }
    is_ready(&python, &scripts(workspace))
        .err()
        .map(|error| error.to_string())
}

fn is_ready(python: &Path, scripts: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(python);
    command.arg("-B").arg(scripts.join("check.py")).arg("--ready");
    let output = process::capture(&mut command).context("the Python with the vendors' packages does not run")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stdout).trim());
    }
    Ok(())
}

fn scripts(workspace: &Workspace) -> PathBuf {
    workspace.root.join("scripts").join("sdk-types")
}

/// The test looks for it here, too.
fn environment(workspace: &Workspace) -> PathBuf {
    workspace.target.join("sdk-types").join("python")
}

fn python(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    })
}

fn base_python() -> &'static str {
    if cfg!(windows) { "python" } else { "python3" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_without_the_packages_is_told_from_one_that_does_not_run() {
        let nowhere = Path::new("/nonexistent");
        let told = is_ready(&python(nowhere), nowhere).unwrap_err().to_string();
        assert_eq!(told, "the Python with the vendors' packages does not run");
    }

    #[test]
    fn every_package_has_one_version() {
        let list = include_str!("../../scripts/sdk-types/requirements.txt");
        let packages: Vec<_> = list.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(!packages.is_empty());
        assert!(
            packages.iter().all(|line| line.split("==").count() == 2),
            "{packages:?}"
        );
    }
}
