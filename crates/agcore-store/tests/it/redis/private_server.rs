//! [`PrivateServer`]: a server of one test, which may configure and kill it.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use agcore_store::redis::{ReconnectPolicy, RedisOptions};
use redis::{Client, Connection};
use tempfile::TempDir;

/// A server that listens on a socket in its directory only, so that no two servers need the same port.
pub(super) struct PrivateServer {
    child: Child,
    directory: TempDir,
    arguments: Vec<String>,
}

impl PrivateServer {
    /// Starts a server, or returns the reason why that is not possible.
    pub(super) fn start(arguments: &[&str]) -> Result<Self, String> {
        let directory = tempfile::tempdir().unwrap();
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let child = start(directory.path(), &arguments)?;
        Ok(Self {
            child,
            directory,
            arguments,
        })
    }

    /// Kills the server at once, as a crash would.
    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts the server again, with its files.
    pub(super) fn restart(&mut self) {
        self.child = start(self.directory.path(), &self.arguments).unwrap();
    }

    pub(super) fn url(&self) -> String {
        format!("unix://{}", self.directory.path().join("socket").display())
    }

    /// Returns options that try to connect once.
    pub(super) fn options(&self) -> RedisOptions {
        let options = RedisOptions::new(&self.url()).unwrap();
        options.with_reconnect(ReconnectPolicy::new().with_attempts(1))
    }

    /// Returns a connection of another program.
    pub(super) fn raw(&self) -> Connection {
        Client::open(self.url()).unwrap().get_connection().unwrap()
    }

    /// Runs a command.
    pub(super) fn run(&self, command: &str) {
        let mut words = command.split(' ');
        let mut call = redis::cmd(words.next().unwrap());
        words
            .fold(&mut call, |call, word| call.arg(word))
            .exec(&mut self.raw())
            .unwrap();
    }

    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(directory: &Path, arguments: &[String]) -> Result<Child, String> {
    let socket = directory.join("socket");
    // A server that was killed leaves its socket behind.
    let _ = std::fs::remove_file(&socket);
    let mut command = Command::new("redis-server");
    command
        .current_dir(directory)
        .args(["--port", "0", "--save", "", "--unixsocket"])
        .arg(&socket);
    let started = command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = started.map_err(|error| format!("the program redis-server cannot be started: {error}"))?;
    let log = BufReader::new(child.stdout.take().unwrap());
    let mut lines = log.lines().map_while(Result::ok);
    let mut seen = Vec::new();
    let is_ready = lines.by_ref().any(|line| {
        let is_ready = line.contains("ready to accept connections") || line.contains("Ready to accept connections");
        seen.push(line);
        is_ready
    });
    assert!(is_ready, "the server did not start:\n{}", seen.join("\n"));
    // Otherwise the server blocks when the pipe is full.
    std::thread::spawn(move || lines.for_each(drop));
    Ok(child)
}
