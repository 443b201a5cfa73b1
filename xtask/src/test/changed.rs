//! The packages whose tests a change can affect: those with changed files, and those that depend on them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::process;
use crate::workspace::{Package, Workspace};

/// Files outside of the packages that affect all of them: the manifest, the settings of the build, and the recordings that
/// tests read.
const SHARED: &[&str] = &[".cargo/", "Cargo.lock", "Cargo.toml", "fixtures/"];

/// The branch that changes are compared with, if the remote has it.
const REMOTE: &str = "origin/main";

/// Returns the names of the packages that the changes since a commit affect, sorted. Changes that are not committed count.
///
/// # Errors
///
/// Returns an error if git does not know the commit.
pub(super) fn affected(workspace: &Workspace, since: Option<&str>) -> anyhow::Result<Vec<String>> {
    let root = &workspace.root;
    let base = match since {
        Some(commit) => commit.to_owned(),
        None => git(root, &["merge-base", "HEAD", REMOTE]).unwrap_or_else(|_| "HEAD".to_owned()),
    };
    let changed = git(root, &["diff", "--name-only", base.trim(), "--"])?;
    let new = git(root, &["ls-files", "--others", "--exclude-standard"])?;
    let files = changed.lines().chain(new.lines());
    Ok(with_dependents(&workspace.members, files))
}

fn git(root: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    process::stdout(Command::new("git").current_dir(root).args(arguments))
}

/// Returns the packages that contain the files, and all packages that depend on them.
fn with_dependents<'a>(members: &'a [Package], files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut affected = BTreeSet::new();
    for file in files {
        if SHARED.iter().any(|shared| file.starts_with(shared)) {
            return members.iter().map(|member| member.name.clone()).collect();
        }
        affected.extend(owner(members, file).map(|member| member.name.as_str()));
    }
    loop {
        let known = affected.len();
        let depends = |member: &&Package| {
            let mut dependencies = member.dependencies.iter();
            dependencies.any(|dependency| affected.contains(dependency.name.as_str()))
        };
        let dependents: Vec<&str> = members.iter().filter(depends).map(|member| &*member.name).collect();
        affected.extend(dependents);
        if affected.len() == known {
            return affected.into_iter().map(str::to_owned).collect();
        }
    }
}

/// Returns the package whose folder contains the file; the innermost, if folders of packages contain each other.
fn owner<'a>(members: &'a [Package], file: &str) -> Option<&'a Package> {
    let folder = |member: &'a Package| member.manifest.strip_suffix("Cargo.toml").unwrap_or_default();
    let owners = members.iter().filter(|member| file.starts_with(folder(member)));
    owners.max_by_key(|member| folder(member).len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Dependency, Kind};

    fn member(folder: &str, dependencies: &[&str]) -> Package {
        let dependency = |name: &&str| Dependency {
            name: (*name).to_owned(),
            kind: Kind::Normal,
            version: None,
            has_path: true,
            default_features: true,
            features: Vec::new(),
        };
        Package {
            name: folder.rsplit('/').next().unwrap_or_default().to_owned(),
            manifest: format!("{folder}/Cargo.toml"),
            dependencies: dependencies.iter().map(dependency).collect(),
            ..Package::default()
        }
    }

    #[track_caller]
    fn check(files: &[&str], expected: &[&str]) {
        let members = [
            member("crates/chat", &[]),
            member("crates/llm", &["chat"]),
            member("crates/cli", &["llm"]),
            member("benches", &["llm"]),
            member("benches/flow", &["benches"]),
            member("crates/yaml", &[]),
        ];
        assert_eq!(with_dependents(&members, files.iter().copied()), expected);
    }

    #[test]
    fn packages_and_all_that_depend_on_them_are_affected() {
        check(&["crates/cli/src/main.rs"], &["cli"]);
        check(&["crates/llm/src/lib.rs"], &["benches", "cli", "flow", "llm"]);
        check(&["crates/yaml/a.txt", "crates/cli/b.rs"], &["cli", "yaml"]);
    }

    #[test]
    fn the_innermost_folder_owns_a_file() {
        check(&["benches/flow/a.rs"], &["flow"]);
        check(&["benches/a.rs"], &["benches", "flow"]);
    }

    #[test]
    fn shared_files_affect_everything_and_pages_nothing() {
        check(&["Cargo.lock"], &["chat", "llm", "cli", "benches", "flow", "yaml"]);
        check(
            &["fixtures/wire/a.json"],
            &["chat", "llm", "cli", "benches", "flow", "yaml"],
        );
        check(&["docs/guide/README.md", "README.md"], &[]);
    }
}
