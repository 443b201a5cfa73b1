//! [`SqliteStore`]: everything in one file, with SQLite built in.

mod error;
mod connection;
mod migrations;
mod writer;
mod readers;
mod memory;
mod journal;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use agcore_chat::Clock;
use agcore_memory::{EvictionConfig, MemoryError, Timestamp};
use rusqlite::Connection;

use self::{readers::Readers, writer::Writer};

/// A [`MemoryStore`](agcore_memory::MemoryStore) and [`Journal`](agcore_memory::Journal) in a SQLite file.
///
/// One thread writes and commits all waiting writes together, so that many writers need few syncs. A few threads read, each
/// with its own connection and without waiting for the writer. Several processes can use the same file.
/// Cheap to clone; the file is closed with the last clone.
///
/// If the future of a write is dropped, the write may still take place: writes that were started are completed even if nothing
/// waits for them.
#[derive(Debug, Clone)]
pub struct SqliteStore(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Arc<dyn Clock>,
    eviction: EvictionConfig,
    writer: Writer,
    readers: Readers,
    /// The number of items that were saved, to know when to apply the policies.
    writes: AtomicU64,
}

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

/// Options for opening a [`SqliteStore`].
///
/// ```no_run
/// # async fn open(clock: std::sync::Arc<dyn agcore_chat::Clock>) -> Result<(), agcore_memory::MemoryError> {
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
    path: PathBuf,
    durability: Durability,
    eviction: EvictionConfig,
    readers: usize,
    busy_timeout: Duration,
    max_pages: Option<u32>,
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
    /// [`Unavailable`](agcore_memory::MemoryErrorKind::Unavailable).
    pub fn with_busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Limits the size of the file, in pages of 4 KiB. Writes that do not fit fail.
    pub fn with_max_pages(mut self, pages: u32) -> Self {
        self.max_pages = Some(pages);
        self
    }

    /// Opens the file, creates its tables or migrates them.
    ///
    /// # Errors
    /// When the file cannot be opened, is not a database of agcore, or was written by a newer version.
    pub async fn open(self, clock: Arc<dyn Clock>) -> Result<SqliteStore, MemoryError> {
        self.eviction.check()?;
        let (options, threads) = (self.clone(), self.readers);
        let writer = Writer::start(move || {
            let mut connection = connection::open(&options)?;
            migrations::migrate(&mut connection, &options.path)?;
            Ok(connection)
        });
        let writer = writer.await?;
        let options = self.clone();
        let readers = Readers::start(threads, move || connection::open_for_reading(&options)).await?;
        Ok(SqliteStore(Arc::new(Shared {
            clock,
            eviction: self.eviction,
            writer,
            readers,
            writes: AtomicU64::new(0),
        })))
    }
}

impl SqliteStore {
    /// Opens a file with default options. See [`SqliteOptions::open`].
    ///
    /// # Errors
    /// When the file cannot be opened, is not a database of agcore, or was written by a newer version.
    pub async fn open(path: impl AsRef<Path>, clock: Arc<dyn Clock>) -> Result<Self, MemoryError> {
        SqliteOptions::new(path.as_ref()).open(clock).await
    }

    /// Waits until all writes that were started are completed. Dropping the store does not wait.
    pub async fn close(self) {
        // The error would be that the writer has ended already.
        let _ = self.0.writer.run(|_| Ok(())).await;
    }

    async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        self.0.writer.run(job).await
    }

    async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        self.0.readers.run(job).await
    }

    fn now(&self) -> Timestamp {
        self.0.clock.now().into()
    }
}
