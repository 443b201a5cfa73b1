//! Processes that run the flow, which the tests start and kill.

use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    process::{self, ChildStdout, Command, Stdio},
};

use super::{job, place::Place};

const JOB: &str = "AGCORE_TEST_FLOW_JOB";
const REPORT: &str = "report: ";

/// A report of a process.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// It is at the boundary at which it stops, and waits there to be killed.
    Stopped,
    /// The run has ended.
    Done,
}

impl Report {
    /// Reports this to the test that started the process.
    pub(super) fn send(&self) {
        let line = format!("{REPORT}{self:?}\n");
        std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    }
}

/// A process. It ends with the test, even if that panics.
pub(super) struct Child {
    process: process::Child,
    lines: BufReader<ChildStdout>,
}

impl Child {
    /// Starts a process that continues the run at a place, and stops at the boundary with this number.
    pub(super) fn start(place: &Place, stops_at: Option<usize>) -> Self {
        let stops_at = stops_at.map_or_else(String::new, |boundary| boundary.to_string());
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "crash::child::job", "--ignored", "--nocapture"])
            .env(JOB, format!("{stops_at}\n{}", place.to_text()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap());
        Self { process, lines }
    }

    /// Returns the next report; `None` if the process has ended without one.
    pub(super) fn next(&mut self) -> Option<Report> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end().rsplit_once(REPORT) {
                Some((_, "Stopped")) => return Some(Report::Stopped),
                Some((_, "Done")) => return Some(Report::Done),
                _ => {}
            }
        }
    }

    /// Returns whether the process has ended, with its run ended.
    pub(super) fn is_done(&mut self) -> bool {
        self.process.try_wait().unwrap().is_some() && self.next() == Some(Report::Done)
    }

    /// Kills the process (SIGKILL).
    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The errors would be that the process has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "does the job of a process that other tests start"]
fn job() {
    let Ok(job) = env::var(JOB) else { return };
    let (stops_at, place) = job.split_once('\n').unwrap();
    // Ends when the test that started it has ended.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        process::exit(1);
    });
    let place = Place::from_text(place);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(job::run(&place, stops_at.parse().ok()));
    Report::Done.send();
}
