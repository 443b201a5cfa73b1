//! `bench libraries`: agcore beside other libraries for agents, for the table of the README.
//!
//! Each library in Rust is built into a program of its own, and those in Python are installed into a virtual environment in the
//! target folder. What does not build or cannot be installed is left out, and reported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::foreign::python_environment::PythonEnvironment;
use crate::process;
use crate::workspace::Workspace;

/// The name on the command line.
pub(crate) const NAME: &str = "libraries";

/// The program, without the extension that some platforms require.
const PROGRAM: &str = "agcore-peers";

/// The libraries in Rust, which are the names of the features, with the package that has their version.
const IN_RUST: &[(&str, &str)] = &[
    ("async-openai", "async-openai"),
    ("genai", "genai"),
    ("rig", "rig-core"),
    ("adk-rust", "adk-rust"),
];

/// The libraries in Python, with their packages.
const IN_PYTHON: &[(&str, &[&str])] = &[
    ("LangGraph", &["langgraph", "langchain-openai"]),
    ("pydantic-ai", &["pydantic-ai-slim"]),
];

/// Builds and installs everything, runs the comparison, and prints a Markdown document. Returns `false` if a library that was
/// built or installed could not be measured.
pub(crate) fn compare(workspace: &Workspace) -> anyhow::Result<bool> {
    let Some(own) = build(workspace, None)? else {
        return Ok(false);
    };
    let mut run = Command::new(own);
    run.current_dir(&workspace.root).arg("compare");
    let mut versions = vec![row(workspace, "agcore", env!("CARGO_PKG_VERSION"))?];
    for (feature, package) in IN_RUST {
        match build(workspace, Some(feature))? {
            Some(program) => {
                run.args(["--program", feature]).arg(program);
                let version = version(workspace, feature, package)?;
                versions.push(row(workspace, feature, &version)?);
            }
            None => println!("skipped: {feature} does not build with this compiler"),
        }
    }
    let python = PythonEnvironment::new(workspace, super::NAME, "client.py").without_dependencies();
    match python.prepare() {
        Ok(()) => {
            for (library, packages) in IN_PYTHON {
                let command = python.command();
                run.args(["--program", library])
                    .arg(command.get_program())
                    .args(command.get_args());
                versions.push(format!("{library} ({})", pinned(workspace, packages)?));
            }
            versions.push(first_line(
                Command::new(python.command().get_program()).arg("--version"),
            )?);
        }
        Err(error) => println!("skipped: LangGraph and pydantic-ai: {error:#}"),
    }
    let rustc = first_line(Command::new("rustc").arg("--version"))?;
    println!("\nMachine: {}. Compiler: {rustc}.\n", machine());
    println!(
        "| library | version | crates of a minimal agent |\n|---|---|---|\n{}",
        versions.join("\n")
    );
    process::succeeds(&mut run)
}

/// Returns the row of a library in Rust: its version, and the crates that are linked into the program in `minimal/`.
fn row(workspace: &Workspace, library: &str, version: &str) -> anyhow::Result<String> {
    let linked = super::crates(workspace, &format!("minimal-{library}"), "normal,no-proc-macro")?;
    Ok(format!("| {library} | {version} | {linked} |"))
}

/// Builds the program with one library, or with agcore only, and returns its path. Returns `None` if that fails.
fn build(workspace: &Workspace, feature: Option<&str>) -> anyhow::Result<Option<PathBuf>> {
    let mut build = super::cargo(workspace, "build", ["--release", "--package", PROGRAM]);
    build.args(features(feature));
    if !process::succeeds(&mut build)? {
        return Ok(None);
    }
    let folder = super::target(workspace).join("release");
    let path = |name: &str| folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    // The next build replaces the program.
    let (built, kept) = (
        path(PROGRAM),
        path(&format!("{PROGRAM}-{}", feature.unwrap_or("alone"))),
    );
    fs::copy(&built, &kept).with_context(|| format!("cannot copy {} to {}", built.display(), kept.display()))?;
    Ok(Some(kept))
}

fn features(feature: Option<&str>) -> Vec<&str> {
    let mut options = vec!["--no-default-features"];
    options.extend(feature.iter().flat_map(|feature| ["--features", feature]));
    options
}

/// Returns the version of a package that the program with a library depends on.
fn version(workspace: &Workspace, feature: &str, package: &str) -> anyhow::Result<String> {
    let options = [
        "--package",
        PROGRAM,
        "--depth",
        "1",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ];
    let mut tree = super::cargo(workspace, "tree", options);
    let tree = process::stdout(tree.args(features(Some(feature))))?;
    let found = version_in(&tree, package).with_context(|| format!("cargo's tree does not list {package}"))?;
    Ok(found.to_owned())
}

/// Finds the version of a package in lines such as `genai v0.7.2`.
fn version_in<'a>(tree: &'a str, package: &str) -> Option<&'a str> {
    tree.lines().find_map(|line| {
        let (name, rest) = line.split_once(" v")?;
        (name == package).then(|| rest.split_whitespace().next())?
    })
}

/// Returns packages with their versions in the list of the script.
fn pinned(workspace: &Workspace, packages: &[&str]) -> anyhow::Result<String> {
    let path = workspace
        .root
        .join("scripts")
        .join(super::NAME)
        .join("requirements.txt");
    let list = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let pins = packages.iter().map(|package| {
        let pin = list
            .lines()
            .find_map(|line| line.strip_prefix(package)?.strip_prefix("=="));
        pin.map(|version| format!("{package} {version}"))
            .with_context(|| format!("{} does not list {package}", path.display()))
    });
    Ok(pins.collect::<anyhow::Result<Vec<_>>>()?.join(", "))
}

fn first_line(command: &mut Command) -> anyhow::Result<String> {
    Ok(process::stdout(command)?.lines().next().unwrap_or_default().to_owned())
}

/// Describes the processors, if the system lists them.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processors = fs::read_to_string(Path::new("/proc/cpuinfo")).unwrap_or_default();
    let model = processor(&processors).unwrap_or(std::env::consts::ARCH);
    format!("{cores} cores, {model}, {}", std::env::consts::OS)
}

fn processor(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_version_of_the_package_itself() {
        let tree = "agcore-peers v0.0.0 (/w)\nrig-agent v0.44.1\nrig-core v0.44.0 (*)\nserde v1.0.228\n";
        assert_eq!(version_in(tree, "rig-core"), Some("0.44.0"));
        assert_eq!(version_in(tree, "rig"), None);
        assert_eq!(version_in("", "rig"), None);
    }

    #[test]
    fn each_library_is_the_only_feature_of_its_program() {
        assert_eq!(features(Some("rig")), ["--no-default-features", "--features", "rig"]);
        assert_eq!(features(None), ["--no-default-features"]);
    }

    #[test]
    fn reads_the_model_of_the_processor() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: Another\n";
        assert_eq!(processor(text), Some("Some CPU @ 2 GHz"));
        assert_eq!(processor("processor\t: 0\n"), None);
    }
}
