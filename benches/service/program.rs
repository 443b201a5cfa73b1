//! Starts `agcore serve` on a database that exists, until it answers, and measures it while idle.

use std::{
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    process::{Child, Command},
    time::sleep,
};

use crate::{Fallible, child::memory, requirement::Requirement};

/// The starts. One more creates the database.
const STARTS: usize = 15;

/// The time after which the program is idle.
const IDLE: Duration = Duration::from_millis(500);

/// A program that has answered.
struct Started {
    child: Child,
    millis: f64,
}

/// Measures starts, and the memory after each.
pub(crate) async fn measure(program: &Path) -> Fallible<Vec<Requirement>> {
    let folder = TempDir::new()?;
    let mut first = start(program, folder.path()).await?;
    first.child.kill().await?;
    let (mut millis, mut kib) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let mut started = start(program, folder.path()).await?;
        sleep(IDLE).await;
        millis.push(started.millis);
        kib.push(memory(started.child.id())?);
        started.child.kill().await?;
    }
    let best = |values: Vec<f64>| values.into_iter().fold(f64::INFINITY, f64::min);
    Ok(vec![
        Requirement {
            name: "a second start, until the first answer",
            measured: best(millis),
            unit: "ms",
            at_most: Some(60.0),
        },
        Requirement {
            name: "memory of the idle program",
            measured: best(kib) / 1024.0,
            unit: "MiB",
            at_most: Some(25.0),
        },
    ])
}

/// Starts the program and waits until it is healthy.
async fn start(program: &Path, folder: &Path) -> Fallible<Started> {
    let begin = Instant::now();
    let mut child = Command::new(program)
        .args(["serve", "--listen", "127.0.0.1:0", "--no-tools"])
        .args(["--base-url", "http://127.0.0.1:9/v1", "--model", "none"])
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stderr = child.stderr.take().ok_or("the program has no stderr")?;
    let mut lines = BufReader::new(stderr).lines();
    let address = loop {
        let line = lines.next_line().await?.ok_or("the program ended before it listened")?;
        if let Some((_, rest)) = line.split_once("http://") {
            break rest.split(';').next().unwrap_or_default().to_owned();
        }
    };
    let mut stream = TcpStream::connect(address).await?;
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    if !answer.starts_with("HTTP/1.1 200") {
        return Err(format!("the program is not healthy: {answer}").into());
    }
    let millis = begin.elapsed().as_secs_f64() * 1e3;
    Ok(Started { child, millis })
}
