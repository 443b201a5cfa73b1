//! [`Limits`]: how much of a file is read.

use std::time::Duration;

/// Limits on the size of a file and its content, and on the time that reading it takes.
///
/// A file that exceeds a limit is refused as a whole, with a [`FileProblem`](crate::FileProblem) that names the limit: a part of
/// a file is never returned as if it were all of it.
///
/// ```
/// use agcore_files::Limits;
///
/// let limits = Limits::new().with_pages(100);
/// assert_eq!((limits.pages, limits.cells), (100, 1_000_000));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The size of a file in bytes; 32 MiB by default.
    pub bytes: usize,
    /// The size in bytes of everything in a file after decompression; 64 MiB by default.
    pub unpacked_bytes: usize,
    /// The number of pages; 2,000 by default.
    pub pages: usize,
    /// The number of cells of all tables of a file, empty cells between others included, and of values in JSON; 1,000,000 by
    /// default. A PDF file may consist of four times as many values.
    pub cells: usize,
    /// The number of passages of a document; 20,000 by default.
    pub passages: usize,
    /// The longest passage in characters, at least 1; 2,000 by default. Longer texts are cut.
    pub passage_chars: usize,
    /// How long reading a file may take, including the wait for a free worker; 30 seconds by default.
    pub time: Duration,
}

impl Limits {
    /// Creates the default limits.
    pub fn new() -> Self {
        Self {
            bytes: 32 << 20,
            unpacked_bytes: 64 << 20,
            pages: 2_000,
            cells: 1_000_000,
            passages: 20_000,
            passage_chars: 2_000,
            time: Duration::from_secs(30),
        }
    }

    /// Sets the largest size of a file in bytes.
    #[must_use]
    pub fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets the largest size in bytes of everything in a file after decompression.
    #[must_use]
    pub fn with_unpacked_bytes(mut self, bytes: usize) -> Self {
        self.unpacked_bytes = bytes;
        self
    }

    /// Sets the largest number of pages.
    #[must_use]
    pub fn with_pages(mut self, pages: usize) -> Self {
        self.pages = pages;
        self
    }

    /// Sets the largest number of cells.
    #[must_use]
    pub fn with_cells(mut self, cells: usize) -> Self {
        self.cells = cells;
        self
    }

    /// Sets the largest number of passages of a document.
    #[must_use]
    pub fn with_passages(mut self, passages: usize) -> Self {
        self.passages = passages;
        self
    }

    /// Sets the length of the longest passage in characters.
    #[must_use]
    pub fn with_passage_chars(mut self, chars: usize) -> Self {
        self.passage_chars = chars;
        self
    }

    /// Sets how long reading a file may take.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
