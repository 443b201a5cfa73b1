//! `acp-clients`: `agcore acp` with the reference clients of the Agent Client Protocol.
//!
//! The packages of npm and PyPI are installed into the target folder. Each client starts the program, whose vendor is the mock
//! server, and has the conversations of `scripts/acp`. Afterwards the session continues on the command line.

use std::path::PathBuf;
use std::process::Command;

use anyhow::bail;

use crate::foreign::python_environment::PythonEnvironment;
use crate::foreign::served::{self, Vendor};
use crate::process;
use crate::workspace::Workspace;

/// The packages for Node.js. Update them deliberately, together with `scripts/acp/requirements.txt`.
const NPM: &[&str] = &["@agentclientprotocol/sdk@2.4.0", "zod@4.6.7"];

/// Installs the packages if they are missing, and runs the clients. Returns `false` if one of them failed, or if the model was
/// asked for anything else than its script.
pub(crate) fn clients(workspace: &Workspace) -> anyhow::Result<bool> {
    let python = PythonEnvironment::new(workspace, "acp", "client.py");
    python.prepare()?;
    install(workspace)?;
    if !process::succeeds(&mut workspace.cargo.command(served::BUILD))? {
        return Ok(false);
    }
    let scripts = workspace.root.join("scripts/acp");
    let mut node = Command::new("node");
    node.arg(scripts.join("client.mjs")).arg(npm_folder(workspace));
    let script = scripts.join("model.json").display().to_string();
    let mut all_succeed = true;
    for mut client in [node, python.command()] {
        let vendor = Vendor::start(&workspace.target, &["--script", &script])?;
        let (program, work) = vendor.prepare(&workspace.target, &mut client);
        client.arg(program).arg(work);
        all_succeed &= process::succeeds(&mut client)?;
        all_succeed &= vendor.has_played_the_script()?;
    }
    Ok(all_succeed)
}

fn install(workspace: &Workspace) -> anyhow::Result<()> {
    let folder = npm_folder(workspace);
    if folder.join("node_modules/@agentclientprotocol/sdk").exists() {
        return Ok(());
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if process::capture(Command::new(npm).arg("--version")).is_err() {
        bail!("cannot run `{npm}`, which installs the client of the Agent Client Protocol; install Node.js");
    }
    let mut packages = Command::new(npm);
    packages.args(["install", "--no-audit", "--no-fund", "--prefix"]);
    packages.arg(folder).args(NPM);
    match process::succeeds(&mut packages)? {
        true => Ok(()),
        false => bail!("cannot install the client of the Agent Client Protocol; see the output above"),
    }
}

fn npm_folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("acp/npm")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_the_version_of_every_package() {
        for package in NPM {
            let version = package.rsplit_once('@').map(|(_, version)| version);
            assert!(
                version.is_some_and(|version| version.split('.').count() == 3),
                "{package}"
            );
        }
        let python = include_str!("../../../scripts/acp/requirements.txt");
        assert!(python.lines().all(|line| line.split("==").count() == 2), "{python}");
    }
}
