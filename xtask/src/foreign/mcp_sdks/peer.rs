//! [`Peer`]: a server over HTTP in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

/// The longest time for a server to print its URL.
const LIMIT: Duration = Duration::from_secs(60);

/// A running server, which is killed on drop.
pub(super) struct Peer {
    process: Child,
    pub(super) url: String,
}

impl Peer {
    /// Starts a server, and waits until it prints its URL.
    pub(super) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let mut peer = Self {
            process,
            url: String::new(),
        };
        let output = peer.process.stdout.take().context("the server has no output")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // The receiver only waits for the URL.
                let _ = sender.send(line);
            }
        });
        while !peer.url.starts_with("http://") {
            peer.url = lines.recv_timeout(LIMIT).context("the server did not print its URL")?;
        }
        Ok(peer)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It fails only if the server has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn waits_for_the_url_and_kills_the_server() {
        let mut command = Command::new("sh");
        let peer = Peer::start(command.args(["-c", "echo starting; echo http://127.0.0.1:1/mcp; exec sleep 600"]));
        assert_eq!(peer.unwrap().url, "http://127.0.0.1:1/mcp");
    }

    #[test]
    fn a_server_without_a_url_is_an_error() {
        let mut command = Command::new("sh");
        let error = Peer::start(command.args(["-c", "echo sorry"])).err().unwrap();
        assert_eq!(error.to_string(), "the server did not print its URL");
    }
}
