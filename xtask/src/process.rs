//! Starting processes, above all cargo, at the root of the workspace.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use anyhow::{Context as _, bail};

/// How cargo is called: which one, where, and how.
#[derive(Debug, Clone)]
pub(crate) struct Cargo {
    program: OsString,
    directory: PathBuf,
    incremental: bool,
}

impl Cargo {
    /// The cargo that started this program, or the one on the path.
    pub(crate) fn at(directory: &Path) -> Self {
        Self {
            program: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
            directory: directory.to_owned(),
            incremental: true,
        }
    }

    /// Builds without incremental caches: they cost time and space in a build
    /// that is not repeated.
    pub(crate) fn without_incremental(mut self) -> Self {
        self.incremental = false;
        self
    }

    /// A cargo command with its arguments, ready to run.
    pub(crate) fn command<I>(&self, arguments: I) -> Command
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        self.tool(&self.program, arguments)
    }

    /// The same for another program that works on the workspace.
    pub(crate) fn tool<I>(&self, program: &OsStr, arguments: I) -> Command
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.directory);
        // `cargo run` describes this package to us in the environment; build
        // scripts below must not take it for theirs.
        for (name, _) in std::env::vars_os() {
            if is_of_cargo_run(&name) {
                command.env_remove(name);
            }
        }
        if !self.incremental {
            command.env("CARGO_INCREMENTAL", "0");
        }
        command
    }
}

fn is_of_cargo_run(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || matches!(&*name, "CARGO_BIN_NAME" | "CARGO_CRATE_NAME")
}

/// Runs a command on this terminal; says whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> anyhow::Result<bool> {
    announce(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}", program(command)))?;
    Ok(status.success())
}

/// Runs a command silently and gives what it printed, whatever its status.
pub(crate) fn capture(command: &mut Command) -> anyhow::Result<Output> {
    command
        .env("CARGO_TERM_COLOR", "never")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", program(command)))
}

/// Runs a command silently; its standard output, or its errors when it failed.
pub(crate) fn stdout(command: &mut Command) -> anyhow::Result<String> {
    let output = capture(command)?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed: {}", line(command), errors.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` printed no text", line(command)))
}

/// What a command printed on both outputs while the terminal showed it too.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) succeeded: bool,
    pub(crate) text: String,
}

/// Runs a command on this terminal and keeps what it printed.
pub(crate) fn show(command: &mut Command) -> anyhow::Result<Shown> {
    announce(command);
    let mut child = command
        .env("CARGO_TERM_COLOR", "never")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", program(command)))?;
    let out = child.stdout.take().context("standard output is piped")?;
    let errors = child.stderr.take().context("standard error is piped")?;
    let errors = thread::spawn(move || copy_lines(errors, std::io::stderr()));
    let mut text = copy_lines(out, std::io::stdout());
    // The copier does not panic; were it to, its text is lost and the status still counts.
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

/// The command as one would type it.
fn line(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name();
    let mut text = name.unwrap_or_default().to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}
