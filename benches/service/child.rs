//! [`Child`]: the process of a server, and what it uses.

use std::{env, net::SocketAddr, path::PathBuf, process::Stdio, time::Duration};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{self, Command},
};

use crate::Fallible;

/// The servers to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Bare axum handlers.
    Floor,
    /// agcore-server.
    Agcore,
}

/// The process of a server, which ends with this value.
pub(crate) struct Child {
    pub(crate) side: Side,
    pub(crate) address: SocketAddr,
    process: process::Child,
    /// The folder of the database.
    _folder: TempDir,
}

impl Child {
    /// Starts a server, with this many runs to follow if it is the floor.
    pub(crate) async fn start(side: Side, runs: usize) -> Fallible<Self> {
        let folder = TempDir::new()?;
        let mut command = Command::new(env::current_exe()?);
        match side {
            Side::Floor => command.args(["floor", &runs.to_string()]),
            Side::Agcore => command.arg("serve").arg(folder.path().join("sessions.db")),
        };
        let mut process = command.stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let stdout = process.stdout.take().ok_or("the server has no stdout")?;
        let line = BufReader::new(stdout).lines().next_line().await?;
        Ok(Self {
            side,
            address: line.ok_or("the server ended")?.parse()?,
            process,
            _folder: folder,
        })
    }

    /// Returns the CPU time that the process has used, in user and system mode. The kernel counts in steps of 10 ms.
    pub(crate) fn cpu(&self) -> Fallible<Duration> {
        let stat = std::fs::read_to_string(self.proc("stat")?)?;
        // The name of the program may contain spaces.
        let (_, fields) = stat.rsplit_once(") ").ok_or("the kernel reports no CPU time")?;
        let ticks: Vec<u64> = fields
            .split(' ')
            .skip(11)
            .take(2)
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        Ok(Duration::from_millis(ticks.iter().sum::<u64>() * 10))
    }

    /// Returns the resident memory of the process, in KiB.
    pub(crate) fn memory(&self) -> Fallible<f64> {
        memory(self.process.id())
    }

    fn proc(&self, file: &str) -> Fallible<PathBuf> {
        proc(self.process.id(), file)
    }
}

/// Returns the resident memory of a process, in KiB.
pub(crate) fn memory(process: Option<u32>) -> Fallible<f64> {
    let status = std::fs::read_to_string(proc(process, "status")?)?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("the kernel reports no memory")?.parse()?)
}

fn proc(process: Option<u32>, file: &str) -> Fallible<PathBuf> {
    let id = process.ok_or("the process has ended")?;
    Ok(["/proc", &id.to_string(), file].iter().collect())
}
