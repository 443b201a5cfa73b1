//! [`Boundaries`]: the moments at which a process can be stopped, and the [`Report`] that it has stopped.

use std::{
    future::pending,
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Counts the boundaries that a process passes, and stops it at one of them, where it waits to be killed. Clones share the count.
#[derive(Debug, Clone)]
pub struct Boundaries {
    passed: Arc<AtomicUsize>,
    stops_at: Option<usize>,
}

impl Boundaries {
    /// Creates boundaries that stop the process at the one with this number, counted from 0, or at none.
    pub(super) fn new(stops_at: Option<usize>) -> Self {
        Self {
            passed: Arc::default(),
            stops_at,
        }
    }

    /// Creates boundaries at which nothing stops.
    pub fn without_stop() -> Self {
        Self::new(None)
    }

    /// Counts a boundary. Returns `true` if the process stops there, or has stopped at an earlier one: the caller must not
    /// continue.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        let number = self.passed.fetch_add(1, Ordering::Relaxed);
        if Some(number) == self.stops_at {
            Report::Stopped.send();
        }
        self.stops_at.is_some_and(|stop| number >= stop)
    }

    /// Passes a boundary, or waits there to be killed.
    pub async fn pass(&self) {
        if self.is_stop() {
            pending::<()>().await;
        }
    }

    /// Passes a boundary, or blocks the thread until the process is killed.
    pub fn pass_blocking(&self) {
        if self.is_stop() {
            loop {
                std::thread::park();
            }
        }
    }
}

/// The beginning of a report on standard output, where the test program prints as well.
pub(super) const REPORT: &str = "agcore crash report: ";

/// A report of a process to the test that started it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// It is at the boundary at which it stops, and waits there to be killed.
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
