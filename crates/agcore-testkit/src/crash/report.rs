//! [`Report`]: what a process reports to the test that started it.

use std::io::{self, Write};

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
