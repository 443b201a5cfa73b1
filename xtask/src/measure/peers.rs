//! `bench peers`, `bench libraries` and `footprint`: agcore beside others, in a workspace of its own in `benches/peers`.
//!
//! `ci` builds none of them, because they need further crates from the registry and minutes of time.

pub(crate) mod libraries;

use std::collections::BTreeSet;
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

/// Runs all benches with async-openai in both profiles and prints a Markdown document. Returns `false` if one of them failed.
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

/// Returns the number of crates that a program in `benches/peers/minimal` is built from, including itself.
pub(crate) fn crates(workspace: &Workspace, program: &str, edges: &str) -> anyhow::Result<usize> {
    let options = [
        "--package",
        program,
        "--edges",
        edges,
        "--prefix",
        "none",
        "--format",
        "{p}",
    ];
    let tree = process::stdout(&mut cargo(workspace, "tree", options))?;
    Ok(distinct(&tree))
}

/// Counts the packages in the output of `cargo tree`, which marks repeated ones with an asterisk.
fn distinct(tree: &str) -> usize {
    let packages = tree.lines().map(|line| line.trim_end_matches(" (*)"));
    packages.filter(|line| !line.is_empty()).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_a_package_once() {
        let tree = "program v0.0.0 (/w)\nserde v1.0.0\nserde_json v1.0.0\nserde v1.0.0 (*)\n\n";
        assert_eq!(distinct(tree), 3);
    }
}
