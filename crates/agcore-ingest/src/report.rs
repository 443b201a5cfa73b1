//! [`IngestReport`]: what became of files, and [`IngestError`]: why they could not be read at all.

use agcore_files::{FileProblem, LeftOut};
use agcore_memory::{MemoryError, knowledge::SourceChanges};

/// The fate of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileStatus {
    /// It is new, and its pages were saved.
    Added,
    /// It was changed, and its pages were replaced.
    Changed,
    /// It is the same as before; nothing was done.
    Unchanged,
    /// It no longer exists, and its pages were deleted.
    Removed,
    /// It is of a kind without text, such as a picture, for this reason.
    Skipped(String),
    /// It cannot be read, for this reason.
    Failed(String),
}

/// The result of reading one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileOutcome {
    /// The id of the source.
    pub source: String,
    /// Its fate.
    pub status: FileStatus,
    /// The pages that it has got and lost.
    pub pages: SourceChanges,
    /// The parts of its content that could not be read.
    pub warnings: Vec<String>,
}

impl FileOutcome {
    pub(crate) fn new(source: impl Into<String>, status: FileStatus) -> Self {
        Self {
            source: source.into(),
            status,
            pages: SourceChanges::default(),
            warnings: Vec::new(),
        }
    }

    pub(crate) fn with_pages(mut self, pages: SourceChanges) -> Self {
        self.pages = pages;
        self
    }
}

/// The results of reading the files of a folder.
///
/// The numbers of added, changed, unchanged, removed, skipped and failed files are those of [`files`](Self::files), which has the
/// unchanged ones only as a number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IngestReport {
    /// The number of files that are the same as before.
    pub unchanged: u64,
    /// All other files, in the order in which they were read; those that were removed at the end.
    pub files: Vec<FileOutcome>,
    /// The entries of the folder that are not files, or could not be listed.
    pub left_out: Vec<LeftOut>,
}

impl IngestReport {
    /// Returns the number of files with a status, which the function selects.
    pub fn count(&self, selects: impl Fn(&FileStatus) -> bool) -> usize {
        self.files.iter().filter(|file| selects(&file.status)).count()
    }

    /// Returns the files that cannot be read, with the reasons.
    pub fn failed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|file| match &file.status {
            FileStatus::Failed(reason) => Some((file.source.as_str(), reason.as_str())),
            _ => None,
        })
    }

    /// Returns the pages that all files have got and lost. Those of unchanged files are not counted.
    pub fn pages(&self) -> SourceChanges {
        let mut all = SourceChanges::default();
        for file in &self.files {
            all.saved += file.pages.saved;
            all.kept += file.pages.kept;
            all.deleted += file.pages.deleted;
        }
        all
    }

    pub(crate) fn add(&mut self, outcome: FileOutcome) {
        match outcome.status {
            FileStatus::Unchanged => self.unchanged += 1,
            _ => self.files.push(outcome),
        }
    }
}

/// The reason why nothing more can be read. Files that were read before are saved; the next call continues with the others.
///
/// A file that cannot be read is not an error, but an outcome.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The folder or the file does not exist, cannot be listed or has too many files.
    #[error(transparent)]
    Folder(#[from] FileProblem),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] MemoryError),
}
