//! Finding cargo-deny: on `PATH`, in the target folder, or by installing it there.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::bail;

use crate::process;
use crate::workspace::Workspace;

/// A fixed version, so that its findings change only when we change it.
const VERSION: &str = "0.20.2";

/// Number of lines of the log that a failed installation shows.
const TAIL: usize = 40;

/// The result of looking for cargo-deny.
#[derive(Debug)]
pub(super) enum Tool {
    /// The program to start.
    Ready(OsString),
    /// cargo-deny is not installed and the registry cannot be reached, for this reason.
    Unreachable(String),
}

/// Finds the program. If it is not on `PATH`, the first call compiles it, which takes about a minute.
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
        Some(reason) => Ok(Tool::Unreachable(reason)),
    }
}

fn starts(program: &OsString) -> bool {
    let version = process::capture(Command::new(program).arg("--version"));
    version.is_ok_and(|output| output.status.success())
}

/// Installs cargo-deny. Returns the reason if the registry cannot be reached.
fn install(workspace: &Workspace, root: &Path) -> anyhow::Result<Option<String>> {
    let build = root.join("build");
    let mut command = workspace.cargo.command(["install", "cargo-deny", "--version", VERSION]);
    // It runs for seconds, so a fast build matters more than a fast program.
    command.args(["--locked", "--profile", "dev", "--root"]).arg(root);
    command.arg("--target-dir").arg(&build);
    command
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0");
    let logged = process::logged(&mut command, &workspace.log("deny-install"))?;
    if logged.succeeded {
        // Its intermediate files are larger than ours. If they cannot be removed, they only cost space.
        let _ = fs::remove_dir_all(build);
        return Ok(None);
    }
    match unreachable(&logged.text) {
        Some(line) => Ok(Some(format!(
            "cargo-deny is not installed and the registry cannot be reached ({line})"
        ))),
        None => bail!(
            "cannot install cargo-deny {VERSION}: {}",
            logged.failure(&workspace.root, TAIL)
        ),
    }
}

/// Returns the line in which cargo reports that it could not reach the registry.
fn unreachable(output: &str) -> Option<&str> {
    const SIGNS: &[&str] = &[
        "could not connect",
        // The version exists, so an index without it is outdated or missing.
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
    output.lines().map(str::trim).find(|line| {
        let line = line.to_lowercase();
        SIGNS.iter().any(|sign| line.contains(sign))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_a_network_failure_from_a_build_failure() {
        let output = "    Updating crates.io index\nerror: failed to download from `index`\n\nCaused by:\n  [6] Could not resolve host";
        assert_eq!(unreachable(output), Some("error: failed to download from `index`"));
        let output = "   Compiling gix v0.1.0\nerror[E0425]: cannot find value `x`\nerror: could not compile `gix`";
        assert_eq!(unreachable(output), None);
    }
}
