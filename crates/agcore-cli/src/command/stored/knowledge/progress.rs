//! [`ProgressLine`]: how many files were read, on a line that is written again and again.

use std::io::{IsTerminal, Write};

/// The number of files after which the line is written again.
const STEP: usize = 10;

/// A line on standard error, if that is a terminal.
pub(super) struct ProgressLine {
    is_shown: bool,
    is_written: bool,
}

impl ProgressLine {
    pub(super) fn new(is_hidden: bool) -> Self {
        Self {
            is_shown: !is_hidden && std::io::stderr().is_terminal(),
            is_written: false,
        }
    }

    pub(super) fn show(&mut self, done: usize, total: usize) {
        if self.is_shown && (done.is_multiple_of(STEP) || done == total) {
            self.is_written = true;
            write(&format!("\r{done} of {total} files"));
        }
    }

    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.is_written) {
            write("\r\x1b[K");
        }
    }
}

fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // Nothing depends on it.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
