//! `fuzz`: runs the fuzz targets, which are a package of their own in `fuzz/`.
//!
//! They are built on the stable compiler, with the coverage counters that
//! libFuzzer reads and without a sanitizer. What is found lies in
//! `fuzz/artifacts/<target>/`, what was learnt in `fuzz/corpus/<target>/`.

mod outcome;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::check::Check;
use crate::finding::Finding;
use crate::process;
use crate::report::Report;
use crate::workspace::Workspace;
use outcome::Outcome;

/// How long each target runs unless told otherwise.
pub(crate) const DEFAULT_TIME: Duration = Duration::from_secs(60);

/// How long each target runs in `ci`: long enough to see that it runs, and what the seeds alone find.
const SMOKE_TIME: Duration = Duration::from_secs(3);

/// Targets that read recorded answers of servers as they stand, and where these lie.
const RECORDINGS: &[(&str, &str)] = &[
    ("anthropic_decode", "fixtures/wire/anthropic"),
    ("chat_decode", "fixtures/wire/openai-chat"),
    ("ollama_decode", "fixtures/wire/ollama"),
    ("responses_decode", "fixtures/wire/openai-responses"),
    ("sse", "fixtures/wire/openai-chat"),
];

/// Counters at edges and compared values, as libFuzzer reads them.
const RUSTFLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing";

/// Bounds of one input: its size in bytes, its time in seconds, the memory in MiB.
const BOUNDS: &[&str] = &["-max_len=4096", "-timeout=10", "-rss_limit_mb=2048"];

/// Runs one target, or all one after the other, for some time each; `false`
/// when one of them found something.
pub(crate) fn run(workspace: &Workspace, only: Option<&str>, time: Duration) -> anyhow::Result<bool> {
    if let Some(missing) = missing_compiler() {
        bail!(missing);
    }
    let mut outcomes = Vec::new();
    for target in chosen(targets(&folder(workspace).join("targets"))?, only)? {
        outcomes.push(outcome(workspace, target, time)?);
    }
    println!("\n{}", outcome::table(&outcomes));
    Ok(outcomes.iter().all(Outcome::is_fine))
}

/// Runs every target for a moment, as a part of `ci`.
pub(crate) fn smoke(workspace: &Workspace, report: &mut Report) {
    if let Some(missing) = missing_compiler() {
        report.add(&Check::skipped("fuzz targets", missing));
        return;
    }
    let targets = match targets(&folder(workspace).join("targets")) {
        Ok(targets) => targets,
        Err(error) => return report.add(&Check::from_result("fuzz targets", Err(error))),
    };
    for target in targets {
        let name = format!("fuzz target {target}");
        let found = outcome(workspace, target.clone(), SMOKE_TIME).map(|outcome| match outcome.is_fine() {
            true => Vec::new(),
            false => vec![finding(&target)],
        });
        report.add(&Check::from_result(name, found));
    }
}

fn finding(target: &str) -> Finding {
    let remedy = format!("see `cargo xtask fuzz {target}`; mend the cause and keep the input as a test");
    Finding::new(
        format!("fuzz/targets/{target}.rs"),
        "it found something, see above",
        remedy,
    )
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root.join("fuzz")
}

/// Why no target can be built, if so.
fn missing_compiler() -> Option<String> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let name = compiler.to_string_lossy();
    (!runs(&compiler)).then(|| {
        format!("libFuzzer is built by a C++ compiler, and `{name}` does not run: install one, or name it in CXX")
    })
}

fn outcome(workspace: &Workspace, target: String, time: Duration) -> anyhow::Result<Outcome> {
    let shown = process::show(&mut command(workspace, &target, time)?)?;
    let inputs = fs::read_dir(folder(workspace).join("corpus").join(&target))?.count();
    Ok(Outcome::read(target, shown.succeeded, inputs, &shown.text))
}

/// The names of all targets, sorted: one file each.
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

fn chosen(targets: Vec<String>, only: Option<&str>) -> anyhow::Result<Vec<String>> {
    match only {
        None => Ok(targets),
        Some(only) if targets.iter().any(|target| target == only) => Ok(vec![only.to_owned()]),
        Some(only) => bail!("there is no target `{only}`; there are: {}", targets.join(", ")),
    }
}

fn runs(compiler: &OsStr) -> bool {
    process::capture(Command::new(compiler).arg("--version")).is_ok_and(|output| output.status.success())
}

/// The triple of this machine. With a target named, build scripts and macros
/// get none of the flags.
fn host(workspace: &Workspace) -> anyhow::Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = process::stdout(&mut workspace.cargo.tool(&rustc, ["-vV"]))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` names no host")
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
    for (_, recordings) in RECORDINGS.iter().filter(|(reader, _)| *reader == target) {
        command.arg(workspace.root.join(recordings));
    }
    let mut prefix = OsString::from("-artifact_prefix=");
    prefix.push(artifacts.join(""));
    command.arg(prefix).arg(format!("-max_total_time={}", time.as_secs()));
    command.args(BOUNDS).arg("-print_final_stats=1");
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_chosen_by_its_name() {
        let all = || vec!["failure".to_owned(), "sse".to_owned()];
        assert_eq!(chosen(all(), None).unwrap(), all());
        assert_eq!(chosen(all(), Some("sse")).unwrap(), ["sse"]);
        let error = chosen(all(), Some("ss")).unwrap_err();
        assert_eq!(error.to_string(), "there is no target `ss`; there are: failure, sse");
    }

    #[test]
    fn a_missing_compiler_is_seen() {
        assert!(!runs(OsStr::new("no-such-compiler")));
    }

    #[test]
    fn each_target_is_built_and_has_seeds() {
        let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
        let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
        let names = targets(&fuzz.join("targets")).unwrap();
        assert!(!names.is_empty());
        for name in names {
            assert!(manifest.contains(&format!("path = \"targets/{name}.rs\"")), "{name}");
            assert!(fuzz.join("seeds").join(&name).is_dir(), "{name}");
        }
    }
}
