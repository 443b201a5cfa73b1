//! `fuzz`: runs the fuzz targets, which are a separate package in `fuzz/`.
//!
//! They are built with the stable compiler, with the coverage counters that libFuzzer reads and without a sanitizer.
//! Inputs that fail are written to `fuzz/artifacts/<target>/`, inputs that reach new code to `fuzz/corpus/<target>/`.
//!
//! `ci` does not build them, because they need a C++ compiler and, with their own lock file and compiler flags, a build
//! of all dependencies.

mod outcome;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::process;
use crate::workspace::Workspace;
use outcome::Outcome;

/// The default time for each target.
pub(crate) const DEFAULT_TIME: Duration = Duration::from_secs(60);

/// Targets whose recorded replies of servers are not in the folder of their name, each with the folder. By default, the
/// target `<api>_decode` reads `fixtures/wire/<api>`, with hyphens for underscores.
const RECORDINGS: &[(&str, &str)] = &[
    ("chat_decode", "openai-chat"),
    ("responses_decode", "openai-responses"),
    ("sse", "openai-chat"),
];

/// Flags for the counters of edges and comparisons that libFuzzer reads.
const RUSTFLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing";

/// Limits for one input: its size in bytes, its time in seconds, the memory in MiB.
const LIMITS: &[&str] = &["-max_len=4096", "-timeout=10", "-rss_limit_mb=2048"];

/// Runs one target, or all of them one after the other, for the given time each. Returns `false` if one of them found
/// something.
pub(crate) fn run(workspace: &Workspace, only: Option<&str>, time: Duration) -> anyhow::Result<bool> {
    if let Some(missing) = missing_compiler() {
        bail!(missing);
    }
    let mut outcomes = Vec::new();
    for target in selected(targets(&folder(workspace).join("targets"))?, only)? {
        outcomes.push(outcome(workspace, target, time)?);
    }
    println!("\n{}", outcome::table(&outcomes));
    Ok(outcomes.iter().all(Outcome::succeeded))
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root.join("fuzz")
}

/// Returns why no target can be built, if so.
fn missing_compiler() -> Option<String> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let name = compiler.to_string_lossy();
    (!runs(&compiler)).then(|| {
        format!("libFuzzer needs a C++ compiler, but `{name}` does not run; install one, or set CXX to its name")
    })
}

fn outcome(workspace: &Workspace, target: String, time: Duration) -> anyhow::Result<Outcome> {
    let shown = process::show(&mut command(workspace, &target, time)?)?;
    let inputs = fs::read_dir(folder(workspace).join("corpus").join(&target))?.count();
    Ok(Outcome::parse(target, shown.succeeded, inputs, &shown.text))
}

/// Returns the names of all targets, sorted; each is one file.
fn targets(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("rs")) {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

fn selected(targets: Vec<String>, only: Option<&str>) -> anyhow::Result<Vec<String>> {
    match only {
        None => Ok(targets),
        Some(only) if targets.iter().any(|target| target == only) => Ok(vec![only.to_owned()]),
        Some(only) => bail!("no fuzz target is named `{only}`; known are: {}", targets.join(", ")),
    }
}

fn runs(compiler: &OsStr) -> bool {
    process::capture(Command::new(compiler).arg("--version")).is_ok_and(|output| output.status.success())
}

/// Returns the target triple of this machine. Passing it explicitly keeps the flags away from build scripts and macros.
fn host(workspace: &Workspace) -> anyhow::Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = process::stdout(&mut workspace.cargo.tool(&rustc, ["-vV"]))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` printed no host")
}

/// Returns the folder with the recorded replies for a target, if there is one.
fn recordings(root: &Path, target: &str) -> Option<PathBuf> {
    let listed = RECORDINGS.iter().find(|(name, _)| *name == target);
    let folder = match listed {
        Some((_, folder)) => (*folder).to_owned(),
        None => target.strip_suffix("_decode")?.replace('_', "-"),
    };
    let path = root.join("fixtures/wire").join(folder);
    path.is_dir().then_some(path)
}

fn command(workspace: &Workspace, target: &str, time: Duration) -> anyhow::Result<Command> {
    let (folder, host) = (folder(workspace), host(workspace)?);
    let (corpus, artifacts) = (
        folder.join("corpus").join(target),
        folder.join("artifacts").join(target),
    );
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&artifacts)?;
    let mut command = workspace.cargo.command(["run", "--quiet", "--release", "--locked"]);
    command
        .args(["--target", host.as_str(), "--bin", target, "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", workspace.target.join("fuzz"))
        .env("RUSTFLAGS", RUSTFLAGS)
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    command.arg("--").arg(&corpus).arg(folder.join("seeds").join(target));
    command.args(recordings(&workspace.root, target));
    let mut prefix = OsString::from("-artifact_prefix=");
    prefix.push(artifacts.join(""));
    command.arg(prefix).arg(format!("-max_total_time={}", time.as_secs()));
    command.args(LIMITS).arg("-print_final_stats=1");
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_a_target_by_its_name() {
        let all = || vec!["failure".to_owned(), "sse".to_owned()];
        assert_eq!(selected(all(), None).unwrap(), all());
        assert_eq!(selected(all(), Some("sse")).unwrap(), ["sse"]);
        let error = selected(all(), Some("ss")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no fuzz target is named `ss`; known are: failure, sse"
        );
    }

    #[test]
    fn notices_a_missing_compiler() {
        assert!(!runs(OsStr::new("no-such-compiler")));
    }

    #[test]
    fn each_target_is_in_the_manifest_and_has_seeds() {
        let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
        let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
        let names = targets(&fuzz.join("targets")).unwrap();
        assert!(!names.is_empty());
        for name in names {
            assert!(manifest.contains(&format!("path = \"targets/{name}.rs\"")), "{name}");
            assert!(fuzz.join("seeds").join(&name).is_dir(), "{name}");
        }
    }

    #[test]
    fn finds_the_recordings_of_a_target() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let check = |target: &str, expected: Option<&str>| {
            let found = recordings(&root, target);
            let name = found.as_ref().and_then(|path| path.file_name()).and_then(OsStr::to_str);
            assert_eq!(name, expected, "{target}");
        };
        check("anthropic_decode", Some("anthropic"));
        check("chat_decode", Some("openai-chat"));
        check("openai_chat_decode", Some("openai-chat"));
        check("sse", Some("openai-chat"));
        check("settings", None);
    }
}
