//! `upgrade`: processes of two versions with one database, as in a rolling upgrade.
//!
//! The newer version is the present program with one more migration of each database, built from a copy of the sources. Tests of
//! agcore-cli start both; they learn of the newer program by a variable, and skip without it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::report::counts;
use crate::workspace::Workspace;

/// The package of the program.
const PROGRAM: &str = "agcore-cli";

/// The variable with the path of the newer program.
const VARIABLE: &str = "AGCORE_TEST_NEWER";

/// The folder of the migrations of each database, and the file that lists them.
const DATABASES: [[&str; 2]; 2] = [
    [
        "crates/agcore-store/migrations/postgres",
        "crates/agcore-store/src/postgres/migrations.rs",
    ],
    [
        "crates/agcore-store/migrations/sqlite",
        "crates/agcore-store/src/sqlite/connection/migrations.rs",
    ],
];

/// A migration that changes the tables which processes use all the time.
const MIGRATION: &str = "ALTER TABLE runs ADD COLUMN upgrade_label TEXT NOT NULL DEFAULT 'none';
ALTER TABLE sessions ADD COLUMN upgrade_label TEXT;
ALTER TABLE events ADD COLUMN upgrade_label TEXT;
CREATE TABLE upgrade_labels (label TEXT PRIMARY KEY);
";

/// Builds the newer program, and runs the tests.
pub(crate) fn stage(workspace: &Workspace, report: &mut Report) {
    if workspace.member(PROGRAM).is_none() {
        return report.add(&Check::skipped("upgrade", format!("{PROGRAM} does not exist yet")));
    }
    let tested = build(workspace).and_then(|newer| {
        let mut tests = workspace.cargo.command(TESTS);
        tests.env(VARIABLE, newer);
        process::logged(&mut tests, &workspace.log("upgrade"))
    });
    let counts = tested.as_ref().map(|logged| counts::from_cargo_test(&logged.text));
    let counts = counts.unwrap_or_default();
    let remedy = "fix the tests; `cargo xtask upgrade` runs them alone";
    let check = Check::command("upgrade", tested, &workspace.root, remedy);
    report.add_tests(&check.with_note(format!("{} passed", counts.passed)), counts);
}

const TESTS: &[&str] = &[
    "test",
    "--package",
    PROGRAM,
    "--all-features",
    "--test",
    "it",
    "--",
    "serve::workers::upgrade::",
];

/// Returns the path of the newer program.
fn build(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let folder = workspace.target.join("upgrade");
    let source = folder.join("source");
    copy(&workspace.root, &source)?;
    for [migrations, list] in DATABASES {
        fs::write(source.join(migrations).join("0002.sql"), MIGRATION)?;
        let list = source.join(list);
        let text = fs::read_to_string(&list)?;
        let text = with_second(&text).with_context(|| format!("no list of migrations in {}", list.display()))?;
        fs::write(&list, text)?;
    }
    let target = folder.join("target");
    let mut build = workspace
        .cargo
        .command(["build", "--package", PROGRAM, "--all-features", "--bins"]);
    build.arg("--manifest-path").arg(source.join("Cargo.toml"));
    build.env("CARGO_TARGET_DIR", &target);
    process::logged(&mut build, &workspace.log("upgrade-build"))?;
    Ok(target
        .join("debug")
        .join(format!("agcore{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns the source of a list of migrations with the second one.
fn with_second(text: &str) -> Option<String> {
    let start = text.find("include_str!(")?;
    let end = start + text[start..].find(')')? + 1;
    let first = &text[start..end];
    let second = first.replace("0001.sql", "0002.sql");
    (second != first).then(|| {
        format!(
            "{first_part}{first}, {second}{rest}",
            first_part = &text[..start],
            rest = &text[end..]
        )
    })
}

/// Copies the files of the workspace that git knows, in place of its contents.
fn copy(root: &Path, target: &Path) -> anyhow::Result<()> {
    if target.exists() {
        fs::remove_dir_all(target)?;
    }
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z"]);
    let list = process::stdout(&mut git)?;
    for path in list.split('\0').filter(|path| root.join(path).is_file()) {
        let to = target.join(path);
        fs::create_dir_all(to.parent().context("a file without a folder")?)?;
        fs::copy(root.join(path), to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_a_migration_to_the_list() {
        let list = "const M: &[&str] = &[include_str!(\"../0001.sql\")];";
        let both = "const M: &[&str] = &[include_str!(\"../0001.sql\"), include_str!(\"../0002.sql\")];";
        assert_eq!(with_second(list).as_deref(), Some(both));
        assert_eq!(with_second(both.split_once(", ").unwrap().1), None);
    }

    #[test]
    fn the_lists_are_where_they_are_changed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for [migrations, list] in DATABASES {
            assert!(root.join(migrations).join("0001.sql").is_file(), "{migrations}");
            let text = fs::read_to_string(root.join(list)).unwrap();
            assert!(with_second(&text).is_some(), "{list}");
        }
    }
}
