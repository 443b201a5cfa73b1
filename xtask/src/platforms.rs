//! `platforms`: type-checks the libraries and the program for systems on which they are not tested.
//!
//! A target whose standard library is not installed is skipped. Nothing is linked, so no compiler of C for the target is needed:
//! build scripts get one that writes empty files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::workspace::Workspace;

/// The targets: Windows and macOS.
const TARGETS: &[&str] = &["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// A compiler of C for programs that are not linked. It writes an empty file to the path after `-o`.
const COMPILER: &str = "#!/bin/sh
out=
while [ $# -gt 0 ]; do
    case \"$1\" in
        -o) out=$2; shift ;;
        -o*) out=${1#-o} ;;
    esac
    shift
done
[ -z \"$out\" ] || : > \"$out\"
";

/// Checks each target.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    for target in TARGETS {
        let check = check(workspace, target);
        report.add(&check.unwrap_or_else(|error| Check::from_result(*target, Err(error))));
    }
}

fn check(workspace: &Workspace, target: &str) -> anyhow::Result<Check> {
    if !workspace.cargo.has_library(target)? {
        return Ok(Check::skipped(target, format!("run `rustup target add {target}`")));
    }
    if !cfg!(unix) {
        return Ok(Check::skipped(
            target,
            "the stand-in for a compiler of C is a shell script",
        ));
    }
    let [compiler, archiver] = scripts(&workspace.target.join("platforms"))?;
    let arguments = [
        "check",
        "--workspace",
        "--all-features",
        "--lib",
        "--bins",
        "--target",
        target,
    ];
    let mut command = workspace.cargo.command(arguments);
    // Neither is for users.
    command.args(["--exclude", "xtask", "--exclude", "agcore-benches*"]);
    let suffix = target.replace('-', "_");
    for (tool, script) in [("CC", &compiler), ("CXX", &compiler), ("AR", &archiver)] {
        command.env(format!("{tool}_{suffix}"), script);
    }
    let log = workspace.log(&format!("platforms-{target}"));
    let remedy = "make the code compile for this target, or exclude it there with `cfg`";
    Ok(Check::command(
        target,
        process::logged(&mut command, &log),
        &workspace.root,
        remedy,
    ))
}

/// Writes the stand-ins for a compiler and for an archiver. Returns their paths.
fn scripts(folder: &Path) -> anyhow::Result<[PathBuf; 2]> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let [compiler, archiver] = ["cc", "ar"].map(|name| folder.join(name));
    for (path, text) in [(&compiler, COMPILER), (&archiver, "#!/bin/sh\n")] {
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        make_executable(path)?;
    }
    Ok([compiler, archiver])
}

#[cfg(unix)]
fn make_executable(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let permissions = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, permissions).with_context(|| format!("cannot change {}", path.display()))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> anyhow::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_compiler_writes_an_empty_file() {
        let folder = tempfile::tempdir().unwrap();
        let [compiler, archiver] = scripts(folder.path()).unwrap();
        let object = folder.path().join("a.o");
        let compiled = Command::new(&compiler)
            .args(["-c", "a.c", "-O2", "-o"])
            .arg(&object)
            .status();
        assert!(compiled.unwrap().success());
        assert_eq!(fs::read(&object).unwrap(), b"");
        assert!(Command::new(&compiler).arg("--version").status().unwrap().success());
        assert!(Command::new(archiver).args(["cq", "a.a"]).status().unwrap().success());
    }
}
