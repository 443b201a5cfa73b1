//! The packages of the grid: their versions, and where they are installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::process;
use crate::workspace::Workspace;

/// The packages of npm. Zod describes the arguments of the tools of a server.
const NPM: &[&str] = &[
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/core@2.4.0",
    "@modelcontextprotocol/server@2.4.0",
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "zod@4.6.7",
];

/// The virtual environments of Python, and the package of each.
const PYTHON: &[(&str, &str)] = &[("py1", "mcp==1.30.0"), ("py2", "mcp==2.3.0")];

/// The file that contains the versions once everything is installed.
const STAMP: &str = "installed.txt";

/// Returns the folder of the packages.
pub(super) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("mcp-sdks")
}

/// Returns the Python of a virtual environment.
pub(super) fn python(folder: &Path, environment: &str) -> PathBuf {
    let binary = if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    };
    folder.join(environment).join(binary)
}

/// Returns which program is missing on this machine, if one is.
pub(super) fn unavailable() -> Option<String> {
    let programs = [("node", "Node.js"), (npm(), "Node.js"), (base_python(), "Python 3")];
    let missing = programs
        .into_iter()
        .find(|(program, _)| process::capture(Command::new(program).arg("--version")).is_err());
    missing.map(|(program, product)| format!("{program} was not found; install {product}"))
}

/// Returns that the packages are not installed, if they are not.
pub(super) fn missing(workspace: &Workspace) -> Option<String> {
    let installed = fs::read_to_string(folder(workspace).join(STAMP)).unwrap_or_default();
    (installed != versions()).then(|| "the SDKs are not installed: run `cargo xtask mcp-sdks`".to_owned())
}

/// Installs the packages, unless these versions are installed.
pub(super) fn all(workspace: &Workspace) -> anyhow::Result<()> {
    if missing(workspace).is_none() {
        return Ok(());
    }
    let folder = folder(workspace);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut install = Command::new(npm());
    install.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
    let mut commands = vec![{
        install.arg(&folder).args(NPM);
        install
    }];
    for (environment, package) in PYTHON {
        let mut make = Command::new(base_python());
        make.args(["-m", "venv", "--clear"]).arg(folder.join(environment));
        let mut fill = Command::new(python(&folder, environment));
        fill.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            package,
        ]);
        commands.extend([make, fill]);
    }
    for command in &mut commands {
        if !process::succeeds(command)? {
            bail!("cannot install the SDKs; see the output above");
        }
    }
    fs::write(folder.join(STAMP), versions()).context("cannot write the versions of the SDKs")
}

/// Copies the scripts next to the packages, where Node.js finds them.
pub(super) fn copy_scripts(workspace: &Workspace) -> anyhow::Result<()> {
    let scripts = workspace.root.join("scripts/mcp-sdks");
    for entry in fs::read_dir(&scripts).with_context(|| format!("cannot read {}", scripts.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), folder(workspace).join(entry.file_name()))?;
        }
    }
    Ok(())
}

fn versions() -> String {
    let python = PYTHON.iter().map(|(_, package)| package);
    NPM.iter().chain(python).map(|package| format!("{package}\n")).collect()
}

fn npm() -> &'static str {
    if cfg!(windows) { "npm.cmd" } else { "npm" }
}

fn base_python() -> &'static str {
    if cfg!(windows) { "python" } else { "python3" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_are_pinned() {
        let is_exact = |version: &str| version.split('.').count() == 3;
        let npm = NPM.iter().map(|package| package.rsplit_once('@'));
        let python = PYTHON.iter().map(|(_, package)| package.split_once("=="));
        for package in npm.chain(python) {
            assert!(package.is_some_and(|(_, version)| is_exact(version)), "{package:?}");
        }
    }
}
