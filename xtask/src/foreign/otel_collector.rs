//! `otel-collector`: the spans and metrics that `agcore serve` exports, against the names that OpenTelemetry publishes.
//!
//! `scripts/otel-collector` has a collector of OTLP in Python. It runs the server with an agent, a sub-agent, an MCP server and a
//! flow, and compares names, types, units and buckets with the packages of PyPI, which are installed into the target folder.

use std::path::PathBuf;
use std::process::Command;

use crate::foreign::python_environment::PythonEnvironment;
use crate::process;
use crate::workspace::Workspace;

/// The arguments that build the server with the exporters, and its vendor.
const BUILD: &[&str] = &[
    "build",
    "--package",
    "agcore-cli",
    "--package",
    "agcore-demo",
    "--features",
    "agcore-cli/full,agcore-cli/otel,agcore-demo/program",
    "--bins",
];

/// Builds the programs and runs the script. Returns `false` if a check failed. Without Python, nothing is checked.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<bool> {
    let python = if cfg!(windows) { "python" } else { "python3" };
    if process::capture(Command::new(python).arg("--version")).is_err() {
        println!("skipped: the collector needs Python 3, and `{python}` cannot be run");
        return Ok(true);
    }
    let environment = PythonEnvironment::new(workspace, "otel-collector", "judge.py");
    environment.prepare()?;
    if !process::succeeds(&mut workspace.cargo.command(BUILD))? {
        return Ok(false);
    }
    let program = |name: &str| -> PathBuf {
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        workspace.target.join("debug").join(name)
    };
    let mut judge = environment.command();
    process::succeeds(judge.arg(program("agcore")).arg(program("agcore-mock")))
}
