//! [`Served`]: `agcore serve` with the mock server as its vendor.

use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;

use crate::foreign::program;

/// The arguments that build both programs.
pub(crate) const BUILD: &[&str] = &[
    "build",
    "--package",
    "agcore-cli",
    "--package",
    "agcore-demo",
    "--features",
    "agcore-cli/full,agcore-demo/program",
    "--bins",
];

/// A vendor that plays a script, and a folder for a program that asks it.
pub(crate) struct Vendor {
    running: Running,
    url: String,
    folder: tempfile::TempDir,
}

impl Vendor {
    /// Starts the mock server with these arguments on a free port.
    pub(crate) fn start(target: &Path, arguments: &[&str]) -> anyhow::Result<Self> {
        let (running, url) = vendor(target, arguments)?;
        let folder = tempfile::tempdir()?;
        for name in ["home", "work"] {
            std::fs::create_dir_all(folder.path().join(name))?;
        }
        Ok(Self { running, url, folder })
    }

    /// Lets a command start the program with this vendor. Returns the program, and an empty folder in which it works.
    pub(crate) fn prepare(&self, target: &Path, command: &mut Command) -> (PathBuf, PathBuf) {
        isolate(command, self.folder.path());
        command.env("OPENAI_BASE_URL", &self.url).env("OPENAI_API_KEY", "none");
        command.env("AGCORE_MODEL", "openai:gpt-5-mini");
        (executable(target, "agcore"), self.folder.path().join("work"))
    }

    /// Stops the vendor. Returns whether it was asked for each reply of its script, and for nothing else.
    pub(crate) fn has_played_the_script(mut self) -> anyhow::Result<bool> {
        played(&mut self.running)
    }
}

/// Two running programs in a folder of their own: the server, and the vendor that it asks.
pub(crate) struct Served {
    /// The URL of the server, without a path.
    pub(crate) url: String,
    server: Running,
    vendor: Running,
    /// The URL of the vendor.
    model: String,
    arguments: Vec<String>,
    program: PathBuf,
    folder: tempfile::TempDir,
}

/// A process that is killed on drop.
struct Running(Child);

impl Served {
    /// Starts both programs on free ports, with these arguments. The server keeps the files that users upload. `settings` are added
    /// to those of the server.
    pub(crate) fn start(target: &Path, vendor: &[&str], server: &[&str], settings: &str) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let home = folder.path().join("home/agcore");
        std::fs::create_dir_all(home.join("uploads"))?;
        let settings = format!("[serve]\nfiles = 'uploads'\n{settings}");
        std::fs::write(home.join("agcore.toml"), settings)?;
        let (vendor, model) = self::vendor(target, vendor)?;
        let program = executable(target, "agcore");
        let arguments: Vec<String> = server.iter().map(|&argument| argument.to_owned()).collect();
        let (server, url) = serve(agcore(&program, folder.path()), &arguments, &model)?;
        Ok(Self {
            url,
            server,
            vendor,
            model,
            arguments,
            program,
            folder,
        })
    }

    /// Kills the server, and starts another one with the same files and the same vendor. It has another URL.
    pub(crate) fn kill_and_start_again(&mut self) -> anyhow::Result<()> {
        self.server.0.kill()?;
        self.server.0.wait()?;
        (self.server, self.url) = serve(self.agcore(), &self.arguments, &self.model)?;
        Ok(())
    }

    /// Returns a command that runs the program with the files of the server.
    pub(crate) fn agcore(&self) -> Command {
        agcore(&self.program, self.folder.path())
    }

    /// Stops both programs. Returns whether the vendor was asked for each reply of its script, and for nothing else.
    pub(crate) fn has_played_the_script(mut self) -> anyhow::Result<bool> {
        self.server.0.kill()?;
        self.server.0.wait()?;
        played(&mut self.vendor)
    }
}

impl Running {
    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let child = command.stdin(Stdio::piped()).spawn();
        let name = command.get_program().to_string_lossy();
        Ok(Self(child.with_context(|| format!("cannot start {name}"))?))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It fails only if the process has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the server on a free port, and returns its URL.
fn serve(mut command: Command, arguments: &[String], model: &str) -> anyhow::Result<(Running, String)> {
    command.args(["serve", "--listen", "127.0.0.1:0", "--model", "openai:gpt-5-mini"]);
    command.args(arguments).stderr(Stdio::piped());
    command.env("OPENAI_BASE_URL", model).env("OPENAI_API_KEY", "none");
    let mut server = Running::start(&mut command)?;
    let stderr = server.0.stderr.take().context("the server has no output")?;
    let mut log = BufReader::new(stderr);
    let line = find(&mut log, "http://")?;
    let url = line.split(';').next().unwrap_or_default().to_owned();
    // A server whose log fills the pipe would wait for a reader.
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    Ok((server, url))
}

/// Starts the mock server on a free port, and returns its URL.
fn vendor(target: &Path, arguments: &[&str]) -> anyhow::Result<(Running, String)> {
    let mut command = Command::new(executable(target, "agcore-mock"));
    let command = command.arg("--until-stdin-closes").args(arguments);
    let mut vendor = Running::start(command.stdout(Stdio::piped()))?;
    let stdout = vendor.0.stdout.take().context("the vendor has no output")?;
    let url = find(&mut BufReader::new(stdout), "http://")?;
    Ok((vendor, url))
}

/// Stops the mock server. Returns whether it was asked for each reply of its script.
fn played(vendor: &mut Running) -> anyhow::Result<bool> {
    drop(vendor.0.stdin.take());
    let status = vendor.0.wait()?;
    if !status.success() {
        println!("the vendor ended with {status}: the runs did not ask for the replies of the script");
    }
    Ok(status.success())
}

/// Returns a command that runs the program without keys, with all its files in a folder.
fn agcore(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    isolate(&mut command, folder);
    command
}

/// Takes the keys of the user from a command, and keeps all files of the program in a folder.
fn isolate(command: &mut Command, folder: &Path) {
    command.current_dir(folder);
    program::disconnect(command);
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "APPDATA", "LOCALAPPDATA"] {
        command.env(name, folder.join("home"));
    }
}

fn executable(target: &Path, name: &str) -> PathBuf {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    target.join("debug").join(name)
}

/// Returns the rest of the first line that contains `prefix`, from there on.
fn find(output: &mut BufReader<impl Read>, prefix: &str) -> anyhow::Result<String> {
    let mut read = String::new();
    loop {
        let start = read.len();
        if output.read_line(&mut read)? == 0 {
            anyhow::bail!("the program has ended: {read}");
        }
        if let Some(at) = read[start..].find(prefix) {
            return Ok(read[start + at..].trim_end().to_owned());
        }
    }
}
