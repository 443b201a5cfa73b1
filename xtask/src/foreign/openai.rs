//! `openai-clients`: the packages `openai` of PyPI and npm, and `litellm` as a library and as a proxy, with the server of agcore-server.
//!
//! The packages are installed into the target folder. The clients talk to `agcore serve`, whose vendor is the mock server, and to
//! another one that refuses them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use crate::foreign::served::{self, Served};
use crate::process;
use crate::workspace::Workspace;

/// The packages. Update them deliberately: the scripts know their types.
const PYPI: &[&str] = &["openai==3.57.0", "litellm==1.110.2"];
const PROXY: &[&str] = &["litellm[proxy]==1.99.4"];
const NPM: &[&str] = &["openai@6.49.0"];

/// The settings of a server that allows no run.
const STRICT: &str = "[[serve.quotas]]\nscope = 'each-user'\nper = 'day'\nruns = 0\n";

/// Installs the packages if they are missing, and runs conversations by each, each with servers of its own. Returns `false` if one
/// of them failed, or if the model was asked for anything else than its script.
pub(crate) fn clients(workspace: &Workspace) -> anyhow::Result<bool> {
    let folder = workspace.target.join("openai");
    install(&folder)?;
    if !process::succeeds(&mut workspace.cargo.command(served::BUILD))? {
        return Ok(false);
    }
    let scripts = workspace.root.join("scripts/openai");
    let script = scripts.join("model.json").display().to_string();
    let python = |environment: &str, script: &str| {
        let mut command = Command::new(python(&folder.join(environment)));
        command.arg("-B").arg(scripts.join(script));
        // Otherwise the package asks its authors for prices.
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
        command
    };
    let mut node = Command::new("node");
    node.arg(scripts.join("clients.mjs")).arg(folder.join("npm"));
    let mut all_succeed = true;
    let (mut openai, mut litellm) = (python("python", "clients.py"), python("python", "clients.py"));
    openai.arg("openai");
    litellm.arg("litellm");
    for mut client in [openai, node, litellm, python("proxy", "proxy.py")] {
        let strict = Served::start(&workspace.target, &["--behavior", "echo"], &["--require-token"], STRICT)?;
        let mut tokens = strict.agcore();
        tokens.args(["serve", "tokens", "create"]);
        let token = process::stdout(&mut tokens)?;
        let server = Served::start(&workspace.target, &["--script", &script], &[], "")?;
        client.args([&server.url, &strict.url, token.trim()]);
        all_succeed &= process::succeeds(&mut client)?;
        all_succeed &= server.has_played_the_script()?;
    }
    Ok(all_succeed)
}

fn install(folder: &Path) -> anyhow::Result<()> {
    if folder.join("npm/node_modules/openai").exists() && folder.join("installed").exists() {
        return Ok(());
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let base = if cfg!(windows) { "python" } else { "python3" };
    for program in [npm, base] {
        if process::capture(Command::new(program).arg("--version")).is_err() {
            bail!("cannot run `{program}`, which installs the packages of OpenAI; install Node.js and Python 3");
        }
    }
    let mut packages = Command::new(npm);
    packages.args(["install", "--no-audit", "--no-fund", "--prefix"]);
    packages.arg(folder.join("npm")).args(NPM);
    let mut commands = vec![packages];
    for (environment, wanted) in [("python", PYPI), ("proxy", PROXY)] {
        let environment = folder.join(environment);
        let mut make = Command::new(base);
        make.args(["-m", "venv", "--clear"]).arg(&environment);
        let mut fill = Command::new(python(&environment));
        fill.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(wanted);
        commands.extend([make, fill]);
    }
    for mut command in commands {
        if !process::succeeds(&mut command)? {
            bail!("cannot install the packages of OpenAI; see the output above");
        }
    }
    // A virtual environment without packages would look like one with them.
    std::fs::write(folder.join("installed"), PYPI.join("\n"))?;
    Ok(())
}

fn python(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_the_version_of_every_package() {
        assert!(PYPI.iter().chain(PROXY).all(|package| package.split("==").count() == 2));
        for package in NPM {
            let version = package.rsplit_once('@').map(|(_, version)| version);
            assert!(
                version.is_some_and(|version| version.split('.').count() == 3),
                "{package}"
            );
        }
    }
}
