//! The mock model server of the test kit, as a process of its own.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;

use anyhow::Context as _;

use crate::foreign::program;

/// A running server. It ends when it is finished or dropped, because its standard input then closes.
pub(super) struct ModelServer {
    process: Child,
    /// The base URL for `AGCORE_BASE_URL`.
    pub(super) url: String,
    log: Receiver<String>,
}

impl ModelServer {
    /// Starts `agcore-mock` on a free port of loopback, with a model that echoes messages.
    pub(super) fn start(program: &Path) -> anyhow::Result<Self> {
        let mut process = Command::new(program)
            .args(["--log", "--pace", "0", "--until-stdin-closes"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let log = program::collect(process.stderr.take());
        let stdout = process.stdout.take().context("the output of the server is not piped")?;
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url)?;
        let url = url.trim_end().to_owned();
        Ok(Self { process, url, log })
    }

    /// Stops the server and returns the number of requests it received.
    pub(super) fn finish(mut self) -> anyhow::Result<usize> {
        drop(self.process.stdin.take());
        let log = self.log.recv().context("the server ended without a log")?;
        self.process.wait()?;
        Ok(log.lines().filter(|line| line.starts_with('#')).count())
    }
}
