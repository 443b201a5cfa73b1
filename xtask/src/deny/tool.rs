//! Finding cargo-deny: on the path, in the target folder, or by installing it
//! there.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::bail;

use crate::process;
use crate::workspace::Workspace;

/// A fixed version, so that its findings do not change by themselves.
const VERSION: &str = "0.20.2";

/// Where it can be had.
#[derive(Debug)]
pub(super) enum Tool {
    /// The program to start.
    Ready(OsString),
    /// The registry did not answer; says so.
    OutOfReach(String),
}

/// Finds the program; the first time, where it is on no path, this compiles
/// for about a minute.
pub(super) fn find_or_install(workspace: &Workspace) -> anyhow::Result<Tool> {
    let root = workspace.target.join("tools");
    let installed = root
        .join("bin")
        .join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    for program in [OsString::from("cargo-deny"), installed.clone().into_os_string()] {
        if starts(&program) {
            return Ok(Tool::Ready(program));
        }
    }
    match install(workspace, &root)? {
        None => Ok(Tool::Ready(installed.into_os_string())),
        Some(reason) => Ok(Tool::OutOfReach(reason)),
    }
}

fn starts(program: &OsString) -> bool {
    let version = process::capture(Command::new(program).arg("--version"));
    version.is_ok_and(|output| output.status.success())
}

/// Installs it; gives the reason when the registry is out of reach.
fn install(workspace: &Workspace, root: &Path) -> anyhow::Result<Option<String>> {
    let build = root.join("build");
    let mut command = workspace.cargo.command(["install", "cargo-deny", "--version", VERSION]);
    // It runs for seconds: a quick build serves it better than a fast program.
    command.args(["--locked", "--profile", "dev", "--root"]).arg(root);
    command.arg("--target-dir").arg(&build);
    command
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0");
    let shown = process::show(&mut command)?;
    if shown.succeeded {
        // Its intermediate files are larger than ours; whatever stays is only space.
        let _ = fs::remove_dir_all(build);
        return Ok(None);
    }
    match unreachable(&shown.text) {
        Some(line) => Ok(Some(format!(
            "cargo-deny is not installed and the registry is out of reach ({line})"
        ))),
        None => bail!("cargo-deny {VERSION} could not be installed; see above"),
    }
}

/// The line by which cargo says that it could not reach the registry.
fn unreachable(told: &str) -> Option<&str> {
    const SIGNS: &[&str] = &[
        "could not connect",
        // The version exists: an index that does not know it is an old copy, or none.
        "could not find `cargo-deny` in registry",
        "could not resolve",
        "couldn't resolve",
        "download of",
        "failed to download",
        "failed to fetch",
        "failed to query replaced source",
        "network failure",
        "offline",
        "timed out",
        "timeout was reached",
        "unable to update registry",
    ];
    told.lines().map(str::trim).find(|line| {
        let line = line.to_lowercase();
        SIGNS.iter().any(|sign| line.contains(sign))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_fault_is_told_from_a_build_fault() {
        let told = "    Updating crates.io index\nerror: failed to download from `index`\n\nCaused by:\n  [6] Could not resolve host";
        assert_eq!(unreachable(told), Some("error: failed to download from `index`"));
        let told = "   Compiling gix v0.1.0\nerror[E0425]: cannot find value `x`\nerror: could not compile `gix`";
        assert_eq!(unreachable(told), None);
    }
}
