//! `dist`: an archive with the program, its manual pages and completions, and the licenses of everything in it.
//!
//! What cannot be done on this machine is skipped, and the last lines say so.

mod archive;
mod licenses;
mod target;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

use self::target::Choice;
use crate::process;
use crate::tree::{Features, Query, Tree};
use crate::workspace::Workspace;

/// The package and its program.
const PACKAGE: &str = "agcore-cli";
const PROGRAM: &str = "agcore";

/// The feature with all commands. Without it, the program is what a first build needs.
const FULL: &str = "full";

/// The profile that is used by default: that of a release, without symbols.
pub(crate) const PROFILE: &str = "dist";

/// The files of the repository that are in the archive.
const FILES: [&str; 4] = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// The licenses of the public price lists whose facts are built in.
const DATA_LICENSES: &str = "crates/agcore-catalog/snapshot/LICENSES.md";

/// The shells and the names of their completions.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "agcore.bash"),
    ("elvish", "agcore.elv"),
    ("fish", "agcore.fish"),
    ("powershell", "_agcore.ps1"),
    ("zsh", "_agcore"),
];

/// Builds the program and writes the archive to `dist` in the target folder. Returns `false` if the build fails.
pub(crate) fn run(workspace: &Workspace, profile: &str) -> anyhow::Result<bool> {
    let choice = target::choose(workspace)?;
    let Some(program) = build(workspace, &choice, profile)? else {
        return Ok(false);
    };
    let version = version(&program)?;
    let name = format!("{PROGRAM}-{version}-{}", choice.triple);
    let folder = workspace.target.join("dist");
    let content = folder.join(&name);
    recreate(&content)?;
    let executable = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    fs::copy(&program, content.join(&executable)).context("cannot copy the program")?;
    for file in FILES {
        fs::copy(workspace.root.join(file), content.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    write_help(&program, &content)?;
    let tree = Tree::ask(
        &workspace.cargo,
        &Query {
            package: PACKAGE,
            features: Features::Only(vec![FULL]),
            edges: "normal",
            target: Some(&choice.triple),
        },
    )?;
    let licenses = licenses::collect(&workspace.cargo, &tree)?;
    let data = fs::read_to_string(workspace.root.join(DATA_LICENSES))
        .with_context(|| format!("cannot read {DATA_LICENSES}"))?;
    fs::write(
        content.join("THIRD-PARTY-LICENSES.md"),
        format!("{}\n{data}", licenses.text),
    )?;
    let archive = folder.join(format!("{name}.tar.gz"));
    archive::write(&content, &name, &archive)?;
    let sums = folder.join("SHA256SUMS");
    fs::write(&sums, checksums(&[&archive, &content.join(&executable)], &folder)?)?;
    report(&[&archive, &content.join(&executable), &sums])?;
    for reason in choice.skipped.iter().chain(&licenses.missing) {
        println!("skipped: {reason}");
    }
    Ok(true)
}

/// Builds the program. Returns its path, or `None` if the build fails.
fn build(workspace: &Workspace, choice: &Choice, profile: &str) -> anyhow::Result<Option<PathBuf>> {
    let mut arguments = vec![
        "build",
        "--locked",
        "--package",
        PACKAGE,
        "--features",
        FULL,
        "--profile",
        profile,
    ];
    let mut folder = workspace.target.clone();
    if !choice.is_host {
        arguments.extend(["--target", &choice.triple]);
        folder.push(&choice.triple);
    }
    let mut command = workspace.cargo.command(&arguments);
    if let Some((variable, compiler)) = &choice.compiler {
        command.env(variable, compiler);
    }
    if !process::succeeds(&mut command)? {
        return Ok(None);
    }
    // Cargo's folder of the development profile has another name.
    folder.push(if profile == "dev" { "debug" } else { profile });
    let program = folder.join(PROGRAM).with_extension(std::env::consts::EXE_EXTENSION);
    match program.is_file() {
        true => Ok(Some(program)),
        false => bail!("the build succeeded, but {} does not exist", program.display()),
    }
}

/// Starts the program, which shows that it runs on this machine, and returns its version.
fn version(program: &Path) -> anyhow::Result<String> {
    let shown = process::stdout(Command::new(program).arg("--version"))?;
    let version = shown.trim().rsplit(' ').next().unwrap_or_default();
    match version.is_empty() {
        true => bail!("{} prints no version", program.display()),
        false => Ok(version.to_owned()),
    }
}

/// Writes the manual pages and the completions, which the program prints.
fn write_help(program: &Path, content: &Path) -> anyhow::Result<()> {
    let manual = content.join("man");
    fs::create_dir(&manual)?;
    process::stdout(Command::new(program).arg("man").arg("--dir").arg(&manual))?;
    let completions = content.join("completions");
    fs::create_dir(&completions)?;
    for (shell, file) in COMPLETIONS {
        let script = process::stdout(Command::new(program).args(["completion", shell]))?;
        fs::write(completions.join(file), script)?;
    }
    Ok(())
}

fn recreate(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove {}", folder.display()));
        }
        _ => {}
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Returns the lines that `sha256sum --check` reads.
fn checksums(files: &[&Path], folder: &Path) -> anyhow::Result<String> {
    let mut lines = String::new();
    for file in files {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let sum: String = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let name = file.strip_prefix(folder).unwrap_or(file).display();
        lines.push_str(&format!("{sum}  {name}\n"));
    }
    Ok(lines)
}

fn report(files: &[&Path]) -> anyhow::Result<()> {
    for file in files {
        let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
        println!("{name}: {} bytes ({})", fs::metadata(file)?.len(), file.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_can_be_checked_from_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n";
        assert_eq!(checksums(&[&file], folder.path()).unwrap(), expected);
        assert!(checksums(&[&folder.path().join("none")], folder.path()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_does_not_run_is_an_error() {
        assert!(version(Path::new("/bin/false")).is_err());
        assert!(version(Path::new("/no/such/program")).is_err());
    }
}
