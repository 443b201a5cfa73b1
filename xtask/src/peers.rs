//! `bench peers` and `footprint`: agcore beside other clients, in a workspace of its own in `benches/peers`.
//!
//! `ci` builds neither, because both need further crates from the registry and minutes of time.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use crate::process;
use crate::workspace::Workspace;

/// The name of the benches on the command line.
pub(crate) const NAME: &str = "peers";

/// The profiles in which users build, with their titles.
const PROFILES: &[(&str, &str)] = &[
    ("release", "Cargo's default release profile"),
    ("thin-lto", "`lto = \"thin\"` and `codegen-units = 1`"),
];

/// Runs all benches in both profiles and prints a Markdown document. Returns `false` if one of them failed.
pub(crate) fn bench(workspace: &Workspace) -> anyhow::Result<bool> {
    let mut all_succeeded = true;
    for (profile, title) in PROFILES {
        println!("\n# {title}\n");
        let build = &mut cargo(workspace, "build", ["--profile", profile]);
        all_succeeded &= process::succeeds(build)?;
        // Instructions are counted even if a job failed, and the other way round.
        for arguments in [&[][..], &["count"]] {
            let run = &mut cargo(workspace, "run", ["--quiet", "--profile", profile]);
            all_succeeded &= process::succeeds(run.arg("--").args(arguments))?;
        }
    }
    Ok(all_succeeded)
}

/// Returns the target directory of the peers.
pub(crate) fn target(workspace: &Workspace) -> PathBuf {
    workspace.target.join(NAME)
}

/// Creates a cargo command for the workspace of the peers.
pub(crate) fn cargo<I>(workspace: &Workspace, command: &str, options: I) -> Command
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut cargo = workspace.cargo.command([command, "--locked", "--manifest-path"]);
    cargo.arg(workspace.root.join("benches/peers/Cargo.toml")).args(options);
    cargo.env("CARGO_TARGET_DIR", target(workspace));
    cargo
}
