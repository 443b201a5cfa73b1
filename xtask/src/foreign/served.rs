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

/// Two running programs in a folder of their own: the server, and the vendor that it asks.
pub(crate) struct Served {
    /// The URL of the server, without a path.
    pub(crate) url: String,
    server: Running,
    vendor: Running,
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
        let mut command = Command::new(executable(target, "agcore-mock"));
        let vendor = command.arg("--until-stdin-closes").args(vendor);
        let mut vendor = Running::start(vendor.stdout(Stdio::piped()))?;
        let stdout = vendor.0.stdout.take().context("the vendor has no output")?;
        let model = find(&mut BufReader::new(stdout), "http://")?;

        let program = executable(target, "agcore");
        let mut command = agcore(&program, folder.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--model", "openai:gpt-5-mini"]);
        command.args(server).stderr(Stdio::piped());
        command.env("OPENAI_BASE_URL", model).env("OPENAI_API_KEY", "none");
        let mut server = Running::start(&mut command)?;
        let stderr = server.0.stderr.take().context("the server has no output")?;
        let mut log = BufReader::new(stderr);
        let line = find(&mut log, "http://")?;
        let url = line.split(';').next().unwrap_or_default().to_owned();
        // A server whose log fills the pipe would wait for a reader.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Ok(Self {
            url,
            server,
            vendor,
            program,
            folder,
        })
    }

    /// Returns a command that runs the program with the files of the server.
    pub(crate) fn agcore(&self) -> Command {
        agcore(&self.program, self.folder.path())
    }

    /// Stops both programs. Returns whether the vendor was asked for each reply of its script, and for nothing else.
    pub(crate) fn has_played_the_script(mut self) -> anyhow::Result<bool> {
        self.server.0.kill()?;
        self.server.0.wait()?;
        drop(self.vendor.0.stdin.take());
        let status = self.vendor.0.wait()?;
        if !status.success() {
            println!("the vendor ended with {status}: the runs did not ask for the replies of the script");
        }
        Ok(status.success())
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

/// Returns a command that runs the program without keys, with all its files in a folder.
fn agcore(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    program::disconnect(&mut command);
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "APPDATA", "LOCALAPPDATA"] {
        command.env(name, folder.join("home"));
    }
    command
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
