//! `catalog`: composes the snapshot of models and prices that agcore-catalog ships, from public price lists.
//!
//! The lists are Python packages, which are installed into the target folder, or wheels that are named. `scripts/catalog/lists.py`
//! prepares them, and the example `snapshot` of agcore-catalog reads them like `agcore catalog update` does, compares them, and
//! writes the snapshot with a report.

use std::path::PathBuf;
use std::process::Command;

use anyhow::bail;

use crate::foreign::python_environment::PythonEnvironment;
use crate::process;
use crate::workspace::Workspace;

/// The folder of the snapshot, from the root.
const SNAPSHOT: &str = "crates/agcore-catalog/snapshot";

/// The arguments of cargo before those of the example. The example does not need a snapshot that exists.
const EXAMPLE: &[&str] = &[
    "run",
    "--quiet",
    "--package",
    "agcore-catalog",
    "--example",
    "snapshot",
    "--",
];

/// Writes the snapshot and its report. The wheels are those of LiteLLM and genai-prices; without them, the packages are installed
/// if they are missing. Returns `false` if a list is refused.
pub(crate) fn run(workspace: &Workspace, wheels: &[PathBuf]) -> anyhow::Result<bool> {
    let lists = workspace.target.join("catalog").join("lists");
    let script = workspace.root.join("scripts/catalog");
    let mut prepare = match wheels {
        [] => {
            let environment = PythonEnvironment::new(workspace, "catalog", "lists.py").without_dependencies();
            environment.prepare()?;
            environment.command()
        }
        [_, _] => {
            let python = if cfg!(windows) { "python" } else { "python3" };
            let mut command = Command::new(python);
            command.arg("-B").arg(script.join("lists.py"));
            command
        }
        _ => bail!("`catalog` takes the wheels of LiteLLM and genai-prices, or none"),
    };
    if !process::succeeds(prepare.arg(&lists).args(wheels))? {
        return Ok(false);
    }
    let snapshot = workspace.root.join(SNAPSHOT);
    let mut compose = workspace.cargo.command(EXAMPLE);
    compose
        .arg(snapshot.join("vendors.jsonl"))
        .arg(script.join("sources.json"));
    compose.arg(lists.join("litellm.json")).arg(lists.join("second.json"));
    compose
        .arg(snapshot.join("shipped.jsonl"))
        .arg(snapshot.join("report.md"));
    process::succeeds(&mut compose)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Returns a file below the root.
    fn text(path: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        std::fs::read_to_string(root.join(path)).unwrap()
    }

    #[test]
    fn the_sources_have_the_versions_that_are_installed() {
        let sources = text("scripts/catalog/sources.json");
        let requirements = text("scripts/catalog/requirements.txt");
        let packages: Vec<&str> = requirements.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(packages.len(), 2);
        for package in packages {
            let name = package.replace("==", " ");
            assert!(sources.contains(&format!("\"name\": \"{name}\"")), "{name}");
        }
    }
}
