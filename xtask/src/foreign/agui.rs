//! `agui-schemas` and `agui-clients`: the events of agcore-agui and the server of agcore-server with the packages of AG-UI for
//! TypeScript and Python.
//!
//! The packages of 1.0 and of the last 0.x are installed into the target folder. A test of agcore-agui writes the events, and
//! `scripts/agui` validates them. Without the packages that test checks nothing, and `ci` reports it as skipped. The clients talk
//! to `agcore serve`, whose vendor is the mock server.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use crate::foreign::served::{self, Served};
use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::workspace::Workspace;

/// The packages of one line of versions. Update them deliberately: the test knows what each line accepts.
struct Line {
    name: &'static str,
    npm: &'static [&'static str],
    pypi: &'static [&'static str],
}

const LINES: &[Line] = &[
    Line {
        name: "1",
        npm: &["@ag-ui/client@1.0.0", "@ag-ui/core@1.0.0", "ajv@8.17.1", "zod@3.25.76"],
        pypi: &["ag-ui-protocol==1.0.0", "pydantic==2.14.3"],
    },
    Line {
        name: "0",
        npm: &["@ag-ui/client@0.0.59", "@ag-ui/core@0.0.59", "zod@3.25.76"],
        pypi: &["ag-ui-protocol==0.1.22", "pydantic==2.14.3"],
    },
];

/// The arguments of cargo: the counts that the test prints are shown.
const TEST: &[&str] = &[
    "test",
    "--package",
    "agcore-agui",
    "--test",
    "it",
    "schemas::",
    "--",
    "--nocapture",
];

/// Installs the packages if they are missing and runs the test. Returns `false` if an event is refused.
pub(crate) fn schemas(workspace: &Workspace) -> anyhow::Result<bool> {
    install(workspace)?;
    process::succeeds(&mut workspace.cargo.command(TEST))
}

/// Installs the packages if they are missing, and runs conversations by the clients, each with a server of its own. Returns
/// `false` if one of them failed, or if the model was asked for anything else than its script.
pub(crate) fn clients(workspace: &Workspace) -> anyhow::Result<bool> {
    install(workspace)?;
    if !process::succeeds(&mut workspace.cargo.command(served::BUILD))? {
        return Ok(false);
    }
    let (folder, scripts) = (folder(workspace), workspace.root.join("scripts/agui"));
    let script = scripts.join("model.json").display().to_string();
    let mut all_succeed = true;
    for line in LINES {
        let mut node = Command::new("node");
        node.arg(scripts.join("clients.cjs")).arg(line.npm_folder(&folder));
        let mut python = Command::new(line.python(&folder));
        python.arg("-B").arg(scripts.join("clients.py"));
        for client in [node, python] {
            let mut server = Served::start(&workspace.target, &["--script", &script], &[], "")?;
            all_succeed &= process::succeeds(copy(&client).args([line.name, &server.url]))?;
            // A call of a tool of the front end waits for its result meanwhile.
            server.kill_and_start_again()?;
            all_succeed &= process::succeeds(copy(&client).args([line.name, &server.url, "after"]))?;
            all_succeed &= server.has_played_the_script()?;
        }
    }
    Ok(all_succeed)
}

/// Returns another command with the same program and arguments.
fn copy(command: &Command) -> Command {
    let mut copy = Command::new(command.get_program());
    copy.args(command.get_args());
    copy
}

fn install(workspace: &Workspace) -> anyhow::Result<()> {
    for line in LINES {
        line.install(&folder(workspace))?;
    }
    match missing(workspace) {
        Some(missing) => bail!("the packages were installed, but still {missing}"),
        None => Ok(()),
    }
}

/// Reports a skipped check if the test had no packages to validate with.
pub(crate) fn report_if_skipped(workspace: &Workspace, report: &mut Report) {
    if let Some(missing) = missing(workspace) {
        let reason = format!("{missing}: run `cargo xtask agui-schemas`");
        report.add(&Check::skipped("events by the packages of AG-UI", reason));
    }
}

/// Returns why the events cannot be validated, if they cannot.
fn missing(workspace: &Workspace) -> Option<String> {
    let folder = folder(workspace);
    let line = LINES.iter().find(|line| !line.is_installed(&folder))?;
    Some(format!("the packages of AG-UI {}.x are not installed", line.name))
}

impl Line {
    fn is_installed(&self, folder: &Path) -> bool {
        self.npm_folder(folder).join("node_modules/@ag-ui/client").exists() && self.python(folder).exists()
    }

    fn install(&self, folder: &Path) -> anyhow::Result<()> {
        if self.is_installed(folder) {
            return Ok(());
        }
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        let base = if cfg!(windows) { "python" } else { "python3" };
        for program in [npm, base] {
            if process::capture(Command::new(program).arg("--version")).is_err() {
                bail!("cannot run `{program}`, which installs the packages of AG-UI; install Node.js and Python 3");
            }
        }
        let mut packages = Command::new(npm);
        packages.args(["install", "--no-audit", "--no-fund", "--prefix"]);
        packages.arg(self.npm_folder(folder)).args(self.npm);
        let mut make = Command::new(base);
        make.args(["-m", "venv", "--clear"]).arg(self.python_folder(folder));
        let mut fill = Command::new(self.python(folder));
        fill.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(self.pypi);
        for command in [&mut packages, &mut make, &mut fill] {
            if !process::succeeds(command)? {
                bail!("cannot install the packages of AG-UI; see the output above");
            }
        }
        Ok(())
    }

    fn npm_folder(&self, folder: &Path) -> PathBuf {
        folder.join(format!("npm-{}", self.name))
    }

    fn python_folder(&self, folder: &Path) -> PathBuf {
        folder.join(format!("python-{}", self.name))
    }

    fn python(&self, folder: &Path) -> PathBuf {
        let program = if cfg!(windows) {
            "Scripts/python.exe"
        } else {
            "bin/python"
        };
        self.python_folder(folder).join(program)
    }
}

/// Returns the folder of the packages, which the test knows as well.
fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("agui")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_the_version_of_every_package() {
        for line in LINES {
            for package in line.npm {
                let version = package.rsplit_once('@').map(|(_, version)| version);
                assert!(
                    version.is_some_and(|version| version.split('.').count() == 3),
                    "{package}"
                );
            }
            assert!(line.pypi.iter().all(|package| package.split("==").count() == 2));
        }
    }

    #[test]
    fn nothing_is_installed_in_an_empty_folder() {
        assert!(LINES.iter().all(|line| !line.is_installed(Path::new("/nonexistent"))));
    }
}
