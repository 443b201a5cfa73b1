//! [`SqliteOptions`]: how a file is opened.

use std::{path::PathBuf, time::Duration};

use agcore_memory::EvictionConfig;

/// The failures that an acknowledged write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// The death of the process, but not always a loss of power (SQLite's `synchronous = NORMAL` with a write-ahead log).
    #[default]
    ProcessDeath,
    /// A loss of power, too: every commit is synced (`synchronous = FULL`).
    PowerLoss,
}

/// Options for opening a [`SqliteStore`](crate::sqlite::SqliteStore).
///
/// ```no_run
/// # async fn open(clock: std::sync::Arc<dyn agcore_chat::Clock>) -> Result<(), agcore_store::StoreError> {
/// use agcore_store::sqlite::{Durability, SqliteOptions};
///
/// let store = SqliteOptions::new("agcore.db")
///     .with_durability(Durability::PowerLoss)
///     .open(clock)
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct SqliteOptions {
    pub(in crate::sqlite) path: PathBuf,
    pub(in crate::sqlite) durability: Durability,
    pub(in crate::sqlite) eviction: EvictionConfig,
    pub(in crate::sqlite) readers: usize,
    pub(in crate::sqlite) busy_timeout: Duration,
    pub(in crate::sqlite) max_pages: Option<u32>,
    pub(in crate::sqlite) program: String,
}

impl SqliteOptions {
    /// Opens the file at this path, which is created if it does not exist, with 4 readers and a timeout of 5 s.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            durability: Durability::default(),
            eviction: EvictionConfig::default(),
            readers: 4,
            busy_timeout: Duration::from_secs(5),
            max_pages: None,
            program: "a program".to_owned(),
        }
    }

    /// Sets what an acknowledged write survives.
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the eviction policies.
    pub fn with_eviction(mut self, eviction: EvictionConfig) -> Self {
        self.eviction = eviction;
        self
    }

    /// Sets the number of threads that read, at least 1.
    pub fn with_readers(mut self, readers: usize) -> Self {
        self.readers = readers.max(1);
        self
    }

    /// Sets how long to wait while another process writes to the file. After that, operations fail with
    /// [`Unavailable`](crate::StoreErrorKind::Unavailable).
    pub fn with_busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Limits the size of the file, in pages of 4 KiB. Writes that do not fit fail.
    pub fn with_max_pages(mut self, pages: u32) -> Self {
        self.max_pages = Some(pages);
        self
    }

    /// Sets the name of the program, such as `agcore serve`. Others see it with the id of the process when they want to continue a
    /// session that is in use here.
    pub fn with_program(mut self, name: impl Into<String>) -> Self {
        self.program = name.into();
        self
    }

    /// Starts the message of an error of an operation on the whole file.
    pub(in crate::sqlite) fn cannot(&self, what: &str) -> String {
        format!("cannot {what} {}", self.path.display())
    }
}
