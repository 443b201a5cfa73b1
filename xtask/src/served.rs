//! [`Served`]: `agcore serve` with the mock server as its vendor.

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use anyhow::Context as _;

use crate::program;

/// The arguments that build both programs.
pub(super) const BUILD: &[&str] = &[
    "build",
    "--package",
    "agcore-cli",
    "--package",
    "agcore-testkit",
    "--bins",
];

/// Two running programs in a folder of their own: the server, and the vendor that it asks.
pub(super) struct Served {
    /// The URL of the server, without a path.
    pub(super) url: String,
    server: Running,
    vendor: Running,
    /// Kept open, so that the server can write to it.
    _log: BufReader<ChildStderr>,
    _folder: tempfile::TempDir,
}

/// A process that is killed on drop.
struct Running(Child);

impl Served {
    /// Starts both programs on free ports. The model plays a script.
    pub(super) fn start(target: &Path, script: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut vendor = command(target, "agcore-mock");
        vendor.arg("--until-stdin-closes").arg("--script").arg(script);
        let mut vendor = Running::start(vendor.stdout(Stdio::piped()))?;
        let stdout = vendor.0.stdout.take().context("the vendor has no output")?;
        let model = find(&mut BufReader::new(stdout), "http://")?;

        let mut server = command(target, "agcore");
        server.args(["serve", "--listen", "127.0.0.1:0", "--model", "openai:gpt-5-mini"]);
        server.current_dir(folder.path()).stderr(Stdio::piped());
        program::disconnect(&mut server);
        server.env("OPENAI_BASE_URL", model).env("OPENAI_API_KEY", "none");
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "APPDATA", "LOCALAPPDATA"] {
            server.env(name, folder.path().join("home"));
        }
        let mut server = Running::start(&mut server)?;
        let stderr = server.0.stderr.take().context("the server has no output")?;
        let mut log = BufReader::new(stderr);
        let line = find(&mut log, "http://")?;
        let url = line.split(';').next().unwrap_or_default().to_owned();
        Ok(Self {
            url,
            server,
            vendor,
            _log: log,
            _folder: folder,
        })
    }

    /// Stops both programs. Returns whether the vendor was asked for each reply of its script, and for nothing else.
    pub(super) fn has_played_the_script(mut self) -> anyhow::Result<bool> {
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

fn command(target: &Path, name: &str) -> Command {
    Command::new(
        target
            .join("debug")
            .join(format!("{name}{}", std::env::consts::EXE_SUFFIX)),
    )
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
