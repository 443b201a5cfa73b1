//! [`Work`]: the file that a parser reads, with the rest of its limits.

use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{
    limits::Limits,
    problem::{FileProblem, FileProblemKind},
};

/// The file that a parser reads: its name, its content, the limits, and whether to stop.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    pub(crate) name: &'a str,
    pub(crate) content: &'a [u8],
    pub(crate) limits: &'a Limits,
    stop: &'a AtomicBool,
    cells: Cell<usize>,
    #[cfg(feature = "xlsx")]
    text_bytes: Cell<usize>,
}

impl<'a> Work<'a> {
    pub(crate) fn new(name: &'a str, content: &'a [u8], limits: &'a Limits, stop: &'a AtomicBool) -> Self {
        Self {
            name,
            content,
            limits,
            stop,
            cells: Cell::new(0),
            #[cfg(feature = "xlsx")]
            text_bytes: Cell::new(0),
        }
    }

    /// Fails when the result is no longer awaited. Parsers call it in their loops, because a thread cannot be ended from
    /// outside.
    pub(crate) fn check(&self) -> Result<(), FileProblem> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(timed_out(self.name, self.limits));
        }
        Ok(())
    }

    /// Counts cells of tables.
    pub(crate) fn count_cells(&self, cells: usize) -> Result<(), FileProblem> {
        let total = self.cells.get().saturating_add(cells);
        self.cells.set(total);
        let limit = self.limits.cells;
        if total > limit {
            return Err(self.exceeded(&format!("it has more than {limit} cells")));
        }
        Ok(())
    }

    /// Fails if a row that is being read already has too many cells.
    #[cfg(any(feature = "csv", feature = "html", feature = "docx"))]
    pub(crate) fn check_row(&self, cells: usize) -> Result<(), FileProblem> {
        let limit = self.limits.cells;
        if cells > limit {
            return Err(self.exceeded(&format!("it has more than {limit} cells")));
        }
        Ok(())
    }

    /// Counts bytes of text that is copied out of the file: a workbook can repeat the same text in a million cells.
    #[cfg(feature = "xlsx")]
    pub(crate) fn count_text(&self, bytes: usize) -> Result<(), FileProblem> {
        let total = self.text_bytes.get().saturating_add(bytes);
        self.text_bytes.set(total);
        if total > self.limits.unpacked_bytes {
            return Err(self.unpacked_too_large());
        }
        Ok(())
    }

    /// Returns the problem of a file that does not follow its format. The text completes "it".
    pub(crate) fn broken(&self, what: &str) -> FileProblem {
        let message = format!("{what}; open it in the program that wrote it, and save it again");
        FileProblem::new(self.name, FileProblemKind::Broken, message)
    }

    /// Returns the warning that a part of the file is not read. The text completes "it".
    pub(crate) fn incomplete(&self, what: &str) -> FileProblem {
        FileProblem::new(self.name, FileProblemKind::Incomplete, what)
    }

    /// Returns the problem of a file that exceeds a limit. The text completes "it".
    pub(crate) fn exceeded(&self, what: &str) -> FileProblem {
        exceeded(self.name, what)
    }

    /// Returns the problem of a file whose content is too large after decompression.
    pub(crate) fn unpacked_too_large(&self) -> FileProblem {
        let limit = self.limits.unpacked_bytes;
        self.exceeded(&format!("its content is larger than {limit} bytes after decompression"))
    }
}

/// Returns the problem of a file that exceeds a limit.
pub(crate) fn exceeded(name: &str, what: &str) -> FileProblem {
    let message = format!("{what}; split the file, or raise the limit");
    FileProblem::new(name, FileProblemKind::LimitExceeded, message)
}

/// Returns the problem of a file that takes too long.
pub(crate) fn timed_out(name: &str, limits: &Limits) -> FileProblem {
    let message = format!(
        "it takes longer than {:?}; split the file, or raise the limit",
        limits.time
    );
    FileProblem::new(name, FileProblemKind::TimedOut, message)
}
