//! Starting processes, mostly cargo, at the root of the workspace.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// The way to call cargo: the program, its working directory, and the settings of its builds.
#[derive(Debug, Clone)]
pub(crate) struct Cargo {
    program: OsString,
    directory: PathBuf,
    /// Environment variables that are set for every command.
    settings: Vec<(&'static str, &'static str)>,
}

impl Cargo {
    /// Uses the cargo that started this program, or else the one on `PATH`.
    pub(crate) fn at(directory: &Path) -> Self {
        Self {
            program: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
            directory: directory.to_owned(),
            settings: Vec::new(),
        }
    }

    /// Turns off incremental compilation, which costs time and space in a build that is not repeated.
    pub(crate) fn without_incremental(mut self) -> Self {
        self.settings.push(("CARGO_INCREMENTAL", "0"));
        self
    }

    /// Turns off debug information, which only a debugger and the lines of a backtrace need; panic messages still
    /// contain file and line.
    pub(crate) fn without_debug_info(mut self) -> Self {
        self.settings.push(("CARGO_PROFILE_DEV_DEBUG", "0"));
        self
    }

    /// Creates a cargo command with its arguments, ready to run.
    pub(crate) fn command<I>(&self, arguments: I) -> Command
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        self.tool(&self.program, arguments)
    }

    /// Returns whether the standard library of a target is installed.
    pub(crate) fn has_library(&self, target: &str) -> anyhow::Result<bool> {
        let mut command = self.tool("rustc".as_ref(), ["--print", "target-libdir", "--target", target]);
        Ok(Path::new(stdout(&mut command)?.trim()).is_dir())
    }

    /// Creates a command for another program that works on the workspace.
    pub(crate) fn tool<I>(&self, program: &OsStr, arguments: I) -> Command
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.directory);
        // `cargo run` describes the xtask package in the environment; the build scripts that we start must not mistake
        // that for their own description.
        for (name, _) in std::env::vars_os() {
            if is_set_by_cargo_run(&name) {
                command.env_remove(name);
            }
        }
        command.envs(self.settings.iter().copied());
        command
    }
}

fn is_set_by_cargo_run(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || matches!(&*name, "CARGO_BIN_NAME" | "CARGO_CRATE_NAME")
}

/// Runs a command with its output on this terminal; returns whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> anyhow::Result<bool> {
    announce(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}", program(command)))?;
    Ok(status.success())
}

/// Runs a command silently and returns its output, whatever its exit status.
pub(crate) fn capture(command: &mut Command) -> anyhow::Result<Output> {
    command
        .env("CARGO_TERM_COLOR", "never")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", program(command)))
}

/// Runs a command silently and returns its standard output; its standard error is part of the error if it fails.
pub(crate) fn stdout(command: &mut Command) -> anyhow::Result<String> {
    let output = capture(command)?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed: {}", line(command), errors.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("the output of `{}` is not UTF-8", line(command)))
}

/// The result of a command whose output went to a log file.
#[derive(Debug)]
pub(crate) struct Logged {
    pub(crate) succeeded: bool,
    /// Standard output and standard error, interleaved.
    pub(crate) text: String,
    command: String,
    log: PathBuf,
}

impl Logged {
    /// Describes the failure: the command, and an excerpt of the log.
    pub(crate) fn failure(&self, root: &Path, tail: usize) -> String {
        format!("`{}` failed; {}", self.command, self.excerpt(root, tail))
    }

    /// Returns the path of the log relative to `root`, and its last `tail` lines.
    pub(crate) fn excerpt(&self, root: &Path, tail: usize) -> String {
        let lines: Vec<&str> = self.text.trim_end().lines().collect();
        let start = lines.len().saturating_sub(tail);
        let log = self.log.strip_prefix(root).unwrap_or(&self.log).display();
        let part = match start {
            0 => "output".to_owned(),
            _ => format!("last {tail} of {} lines", lines.len()),
        };
        let shown: String = lines[start..].iter().map(|line| format!("\n    | {line}")).collect();
        format!("{part} of {log}:{shown}")
    }
}

/// Runs a command silently, with its output in the file `log`.
pub(crate) fn logged(command: &mut Command, log: &Path) -> anyhow::Result<Logged> {
    logged_within(Duration::MAX, command, log)
}

/// Runs a command like [`logged`]. If it takes longer than `limit`, it is ended and has failed.
pub(crate) fn logged_within(limit: Duration, command: &mut Command, log: &Path) -> anyhow::Result<Logged> {
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder)?;
    }
    let file = File::create(log).with_context(|| format!("cannot create {}", log.display()))?;
    let mut ending = file.try_clone()?;
    let mut child = command
        .env("CARGO_TERM_COLOR", "never")
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()
        .with_context(|| format!("cannot start {}", program(command)))?;
    let status = wait_within(limit, &mut child)?;
    if status.is_none() {
        writeln!(ending, "ended after {} s because it did not finish", limit.as_secs())?;
    }
    let bytes = fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
    Ok(Logged {
        succeeded: status.is_some_and(|status| status.success()),
        text: String::from_utf8_lossy(&bytes).into_owned(),
        command: line(command),
        log: log.to_owned(),
    })
}

/// Waits for a process. Kills it and returns `None` if it has not ended by then.
fn wait_within(limit: Duration, child: &mut Child) -> anyhow::Result<Option<ExitStatus>> {
    let started = Instant::now();
    while started.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// The result of a command whose output was shown and kept.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) succeeded: bool,
    /// Standard output, then standard error.
    pub(crate) text: String,
}

/// Runs a command with its output on this terminal and returns a copy of that output.
pub(crate) fn show(command: &mut Command) -> anyhow::Result<Shown> {
    announce(command);
    let mut child = command
        .env("CARGO_TERM_COLOR", "never")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", program(command)))?;
    let out = child.stdout.take().context("standard output is not piped")?;
    let errors = child.stderr.take().context("standard error is not piped")?;
    let errors = thread::spawn(move || copy_lines(errors, std::io::stderr()));
    let mut text = copy_lines(out, std::io::stdout());
    // If the copying thread panicked, its text is lost, but the exit status still counts.
    text.push_str(&errors.join().unwrap_or_default());
    let succeeded = child.wait()?.success();
    Ok(Shown { succeeded, text })
}

fn copy_lines(from: impl Read, mut to: impl Write) -> String {
    let mut kept = String::new();
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while matches!(from.read_until(b'\n', &mut line), Ok(read) if read > 0) {
        // A closed terminal must not end the run.
        let _ = to.write_all(&line);
        kept.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    kept
}

fn announce(command: &Command) {
    println!("$ {}", line(command));
}

fn program(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// Returns the command as one would type it.
fn line(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name();
    let mut text = name.unwrap_or_default().to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_command_that_hangs_is_ended_and_has_failed() -> anyhow::Result<()> {
        let log = std::env::temp_dir().join(format!("agcore-xtask-hang-{}.log", std::process::id()));
        let mut command = Command::new("sleep");
        let logged = logged_within(Duration::ZERO, command.arg("1000"), &log)?;
        fs::remove_file(&log)?;
        assert!(!logged.succeeded);
        assert_eq!(logged.text, "ended after 0 s because it did not finish\n");
        Ok(())
    }

    #[test]
    fn a_failure_shows_the_end_of_the_log() {
        let logged = Logged {
            succeeded: false,
            text: "one\ntwo\nthree\n".to_owned(),
            command: "cargo doc".to_owned(),
            log: PathBuf::from("/w/target/docs.log"),
        };
        let expected = "`cargo doc` failed; last 2 of 3 lines of target/docs.log:\n    | two\n    | three";
        assert_eq!(logged.failure(Path::new("/w"), 2), expected);
        assert!(
            logged
                .failure(Path::new("/w"), 3)
                .contains("output of target/docs.log:\n    | one")
        );
    }
}
