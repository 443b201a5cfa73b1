//! `sdk-types`: validates the request bodies that the wires encode against the types that the vendors publish as
//! Python packages.
//!
//! The packages are installed into a virtual environment in the target folder. A test of agcore-wire encodes the
//! bodies, and `scripts/sdk-types/check.py` validates them. Without the environment that test checks nothing, and `ci`
//! reports it as skipped.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::check::Check;
use crate::process;
use crate::report::Report;
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
    if missing(workspace).is_some() {
        install(workspace)?;
    }
    if let Some(missing) = missing(workspace) {
        bail!("the packages were installed, but still {missing}");
    }
    process::succeeds(&mut workspace.cargo.command(TEST))
}

/// Reports a skipped check if the test had no packages to validate against.
pub(crate) fn report_if_skipped(workspace: &Workspace, report: &mut Report) {
    if let Some(missing) = missing(workspace) {
        let reason = format!("{missing}: run `cargo xtask sdk-types`");
        report.add(&Check::skipped("bodies against the types of vendors", reason));
    }
}

fn install(workspace: &Workspace) -> anyhow::Result<()> {
    let (base, environment) = (base_python(), environment(workspace));
    if process::capture(Command::new(base).arg("--version")).is_err() {
        bail!("cannot run `{base}`, which installs the vendors' Python packages; install Python 3");
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
            bail!("cannot install the vendors' packages; see the output above");
        }
    }
    Ok(())
}

/// Returns why the bodies cannot be validated, if they cannot.
fn missing(workspace: &Workspace) -> Option<String> {
    let python = python(&environment(workspace));
    if !python.exists() {
        return Some("the vendors' Python packages are not installed".to_owned());
    }
    is_ready(&python, &scripts(workspace))
        .err()
        .map(|error| error.to_string())
}

fn is_ready(python: &Path, scripts: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(python);
    command.arg("-B").arg(scripts.join("check.py")).arg("--ready");
    let output = process::capture(&mut command).context("cannot run the Python of the virtual environment")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stdout).trim());
    }
    Ok(())
}

fn scripts(workspace: &Workspace) -> PathBuf {
    workspace.root.join("scripts").join("sdk-types")
}

/// Returns the path of the virtual environment, which the test knows as well.
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
    fn reports_a_python_that_does_not_run() {
        let nowhere = Path::new("/nonexistent");
        let error = is_ready(&python(nowhere), nowhere).unwrap_err().to_string();
        assert_eq!(error, "cannot run the Python of the virtual environment");
    }

    #[test]
    fn pins_the_version_of_every_package() {
        let list = include_str!("../../scripts/sdk-types/requirements.txt");
        let packages: Vec<_> = list.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(!packages.is_empty());
        assert!(
            packages.iter().all(|line| line.split("==").count() == 2),
            "{packages:?}"
        );
    }
}
