//! `bench queues`: the leases of runs beside a job queue on the same PostgreSQL server, in a workspace of its own in
//! `benches/queues`.
//!
//! `ci` does not build it, because it needs further crates from the registry, a server, and minutes of time.

use std::process::Command;

use crate::process;
use crate::workspace::Workspace;

/// The name of the bench on the command line.
pub(crate) const NAME: &str = "queues";

/// The profile in which users build.
const PROFILE: [&str; 2] = ["--profile", "release"];

/// Runs the bench, which prints a Markdown document. Returns `false` if it failed.
pub(crate) fn bench(workspace: &Workspace) -> anyhow::Result<bool> {
    Ok(
        process::succeeds(&mut cargo(workspace, "build"))?
            && process::succeeds(cargo(workspace, "run").arg("--quiet"))?,
    )
}

/// Creates a cargo command for the workspace of the bench.
fn cargo(workspace: &Workspace, command: &str) -> Command {
    let mut cargo = workspace.cargo.command([command, "--locked", "--manifest-path"]);
    cargo
        .arg(workspace.root.join("benches/queues/Cargo.toml"))
        .args(PROFILE);
    cargo.env("CARGO_TARGET_DIR", workspace.target.join(NAME));
    cargo
}
