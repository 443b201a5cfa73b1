//! `ui-clients`: the package `ai` of npm, on whose class `useChat` is built, with the server of agcore-server.
//!
//! Versions 5, 6 and 7 are installed into the target folder, and a Node that version 7 accepts. The chats talk to `agcore serve`, whose
//! vendor is the mock server.

use std::path::Path;
use std::process::Command;

use anyhow::bail;

use crate::foreign::served::{self, Served};
use crate::process;
use crate::workspace::Workspace;

/// The versions: the major one, and the packages. Update them deliberately: the script knows their classes.
const VERSIONS: &[(&str, &[&str])] = &[
    ("5", &["ai@5.0.277", NODE]),
    ("6", &["ai@6.0.326", NODE]),
    ("7", &["ai@7.0.173", NODE]),
];

/// Version 7 needs at least this Node.
const NODE: &str = "node@22.23.3";

/// Installs the packages if they are missing, and runs chats by each version, each with a server of its own. Returns `false` if one of
/// them failed, or if the model was asked for anything else than its script.
pub(crate) fn clients(workspace: &Workspace) -> anyhow::Result<bool> {
    let folder = workspace.target.join("ui-stream");
    for (version, packages) in VERSIONS {
        install(&folder.join(version), packages)?;
    }
    if !process::succeeds(&mut workspace.cargo.command(served::BUILD))? {
        return Ok(false);
    }
    let scripts = workspace.root.join("scripts/ui-stream");
    let script = scripts.join("model.json").display().to_string();
    let mut all_succeed = true;
    for (version, _) in VERSIONS {
        let folder = folder.join(version);
        let server = Served::start(&workspace.target, &["--script", &script], &[], "")?;
        let mut client = Command::new(node(&folder));
        client.arg(scripts.join("clients.mjs")).arg(&folder);
        client.args([*version, &server.url]);
        all_succeed &= process::succeeds(&mut client)?;
        all_succeed &= server.has_played_the_script()?;
    }
    Ok(all_succeed)
}

fn install(folder: &Path, packages: &[&str]) -> anyhow::Result<()> {
    if folder.join("node_modules/ai").exists() && node(folder).exists() {
        return Ok(());
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if process::capture(Command::new(npm).arg("--version")).is_err() {
        bail!("cannot run `{npm}`, which installs the package `ai`; install Node.js");
    }
    let mut command = Command::new(npm);
    // Without `--force`, npm refuses version 7 if the Node that runs npm is older.
    command.args(["install", "--force", "--no-audit", "--no-fund", "--prefix"]);
    command.arg(folder).args(packages);
    match process::succeeds(&mut command)? && node(folder).exists() {
        true => Ok(()),
        false => bail!("cannot install the package `ai`; see the output above"),
    }
}

/// Returns the Node of a folder.
fn node(folder: &Path) -> std::path::PathBuf {
    let program = if cfg!(windows) { "node.exe" } else { "node" };
    folder.join("node_modules/node/bin").join(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_the_version_of_every_package() {
        for package in VERSIONS.iter().flat_map(|(_, packages)| *packages) {
            let version = package.rsplit_once('@').map(|(_, version)| version);
            assert!(
                version.is_some_and(|version| version.split('.').count() == 3),
                "{package}"
            );
        }
    }
}
