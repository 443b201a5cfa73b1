//! [`Boundaries`]: the moments at which a process can be stopped, and the [`Report`] that it has stopped.

use std::{
    future::pending,
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Counts the boundaries that a process passes, and stops it at one of them, where it waits to be killed or continued. Clones share
/// the count.
#[derive(Debug, Clone)]
pub struct Boundaries {
    passed: Arc<AtomicUsize>,
    stop: Stop,
}

/// Where a process stops. The boundaries are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Never,
    /// It waits at the boundary to be killed.
    At(usize),
    /// It is stopped (SIGSTOP) at the boundary, and passes it when it is continued.
    Pause(usize),
}

impl Stop {
    /// Returns the stop as a word for another process.
    pub(super) fn to_text(self) -> String {
        match self {
            Self::Never => "never".to_owned(),
            Self::At(boundary) => format!("at {boundary}"),
            Self::Pause(boundary) => format!("pause {boundary}"),
        }
    }

    pub(super) fn from_text(text: &str) -> Option<Self> {
        if text == "never" {
            return Some(Self::Never);
        }
        let (kind, boundary) = text.split_once(' ')?;
        let boundary = boundary.parse().ok()?;
        match kind {
            "at" => Some(Self::At(boundary)),
            "pause" => Some(Self::Pause(boundary)),
            _ => None,
        }
    }
}

impl Boundaries {
    pub(super) fn new(stop: Stop) -> Self {
        Self {
            passed: Arc::default(),
            stop,
        }
    }

    /// Creates boundaries at which nothing stops.
    pub fn without_stop() -> Self {
        Self::new(Stop::Never)
    }

    /// Counts a boundary. Returns `true` if the process waits there to be killed, or at an earlier one: the caller must not
    /// continue. If the process is to be continued, the call returns `false` after that.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        let number = self.passed.fetch_add(1, Ordering::Relaxed);
        match self.stop {
            Stop::Never => false,
            Stop::At(stop) => {
                if number == stop {
                    Report::Stopped.send();
                }
                number >= stop
            }
            Stop::Pause(stop) => {
                if number == stop {
                    Report::Stopped.send();
                    pause_process();
                }
                false
            }
        }
    }

    /// Passes a boundary, also after the process was stopped there and continued, or waits there to be killed.
    pub async fn pass(&self) {
        if self.is_stop() {
            pending::<()>().await;
        }
    }

    /// Passes a boundary, also after the process was stopped there and continued, or blocks the thread until the process is killed.
    pub fn pass_blocking(&self) {
        if self.is_stop() {
            loop {
                std::thread::park();
            }
        }
    }
}

/// Stops this process, with all its threads, until it is continued.
#[cfg(unix)]
fn pause_process() {
    use rustix::process::{Signal, getpid, kill_process};

    kill_process(getpid(), Signal::STOP).expect("a process can stop itself");
}

#[cfg(not(unix))]
fn pause_process() {
    unreachable!("only tests on Unix stop processes");
}

/// The beginning of a report on standard output, where the test program prints as well.
pub(super) const REPORT: &str = "agcore crash report: ";

/// A report of a process to the test that started it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// It is at the boundary at which it stops.
    Stopped,
    /// The job is done.
    Done,
}

impl Report {
    pub(super) fn send(&self) {
        let line = format!("{REPORT}{self:?}\n");
        // Without a reader, there is no test that waits for the report.
        let _ = io::stdout().lock().write_all(line.as_bytes());
    }
}
