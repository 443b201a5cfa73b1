//! Processes that write to a file, which tests start, and kill.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Arc,
};

use agcore_chat::SystemClock;
use agcore_store::sqlite::{Durability, SqliteOptions, SqliteStore};

use tokio::sync::oneshot;

use super::{holds, indexes, kill, processes, quotas, webhooks};

const JOB: &str = "AGCORE_TEST_JOB";

/// A process that does a job. It ends with the test, even if that panics.
pub(super) struct Writer {
    process: Child,
    /// The process ends when this is closed.
    input: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl Writer {
    /// Starts a process with a job: its name, the file and an argument.
    pub(super) fn start(job: &str, file: &Path, argument: &str) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "sqlite::child::job", "--ignored", "--nocapture"])
            .env(JOB, format!("{job}\n{}\n{argument}", file.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            input: process.stdin.take().unwrap(),
            lines: BufReader::new(process.stdout.take().unwrap()),
            process,
        }
    }

    /// Returns the next report, or `None` if there are no more. A report that was cut off by the death of the process does
    /// not count.
    pub(super) fn next(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            self.lines.read_line(&mut line).unwrap();
            let line = line.strip_suffix('\n')?;
            if let Some((_, report)) = line.split_once(REPORT) {
                return Some(report.to_owned());
            }
        }
    }

    /// Waits until all processes are ready, and lets them begin.
    pub(super) fn begin(writers: &mut [Self]) {
        for writer in &mut *writers {
            assert_eq!(writer.next().as_deref(), Some("ready"));
        }
        for writer in writers {
            writer.input.write_all(b"begin\n").unwrap();
        }
    }

    /// Kills the process in whatever it is doing.
    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The errors would be that the process has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const REPORT: &str = "report: ";

/// Reports a text to the test that started the process.
pub(super) fn report(text: &str) {
    // In one write, so that reports of several threads are not mixed.
    let line = format!("{REPORT}{text}\n");
    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
}

pub(super) async fn open(file: &str, durability: Durability) -> SqliteStore {
    let options = SqliteOptions::new(file).with_durability(durability).with_readers(2);
    options.open(Arc::new(SystemClock::new())).await.unwrap()
}

#[test]
#[ignore = "does the job of a process that other tests start"]
fn job() {
    let Ok(job) = env::var(JOB) else { return };
    let [name, file, argument] = job.splitn(3, '\n').collect::<Vec<_>>().try_into().unwrap();
    // Ends when the test that started it has ended.
    let (begin, began) = oneshot::channel();
    std::thread::spawn(move || {
        let mut lines = std::io::stdin().lines();
        if lines.next().is_some() {
            let _ = begin.send(());
        }
        let _ = lines.next();
        std::process::exit(1);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        match name {
            "kill" => kill::write(file, argument).await,
            "erase" => kill::erase(file, argument).await,
            "change" => indexes::change(file, argument).await,
            "notify" => webhooks::notify(file, argument).await,
            "hold" => holds::hold(file, argument).await,
            "append" => processes::append(file, argument, began).await,
            "draw" => quotas::draw(file, argument, began).await,
            "commit" => processes::commit(file, argument, began).await,
            _ => panic!("unknown job {name}"),
        }
    });
}
