//! [`SqliteStore`]: everything in one file, with SQLite built in.

mod error;
mod rows;
mod connection;
mod thread;
mod writer;
mod readers;
mod memory;
mod journal;
mod holds;
mod leases;
mod sessions;
mod schedules;
mod webhooks;
mod quotas;
mod knowledge;
mod graph;
mod text_index;
mod vector_index;
mod user_data;
pub mod maintenance;

use std::{path::Path, sync::Arc};

use agcore_chat::{Clock, Timestamp};
use agcore_memory::EvictionConfig;
use rusqlite::Connection;

use crate::error::StoreError;

pub use self::{
    connection::options::{Durability, SqliteOptions},
    text_index::SqliteTextIndex,
    vector_index::SqliteVectorIndex,
};

use self::{holds::Holds, readers::Readers, writer::Writer};
use crate::eviction::WriteCounter;

/// A [`MemoryStore`](agcore_memory::MemoryStore), [`Journal`](agcore_session::Journal),
/// [`SessionStore`](agcore_session::SessionStore), [`CheckpointStore`](agcore_session::CheckpointStore),
/// [`KnowledgeStore`](agcore_memory::knowledge::KnowledgeStore), [`KnowledgeGraph`](agcore_memory::graph::KnowledgeGraph),
/// [`ScheduleStore`](agcore_schedule::ScheduleStore), [`WebhookStore`](agcore_webhook::WebhookStore) and
/// [`QuotaStore`](agcore_session::quota::QuotaStore) in a SQLite file.
///
/// One thread writes and commits all waiting writes together, so that many writers need few syncs. A few threads read, each
/// with its own connection and without waiting for the writer. Several processes can use the same file.
/// Cheap to clone; the file is closed with the last clone.
///
/// If the future of a write is dropped, the write may still take place: writes that were started are completed even if nothing
/// waits for them.
///
/// A session to which nothing but events is written, as while a model streams, notes the time of the change once a second.
///
/// [Leases of runs](agcore_session::RunLeases) expire by the clock with which the store was opened. Processes that share runs have
/// to be on one machine, as they have to for the file itself.
#[derive(Debug, Clone)]
pub struct SqliteStore(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Arc<dyn Clock>,
    eviction: EvictionConfig,
    writer: Writer,
    readers: Readers,
    holds: Holds,
    writes: WriteCounter,
}

impl SqliteOptions {
    /// Opens the file, creates its tables or migrates them.
    ///
    /// # Errors
    /// When the file cannot be opened, is not a database of agcore, or was written by a newer version.
    pub async fn open(self, clock: Arc<dyn Clock>) -> Result<SqliteStore, StoreError> {
        self.eviction.check()?;
        let (options, threads) = (self.clone(), self.readers);
        let writer = Writer::start(move || {
            let mut connection = connection::open(&options)?;
            connection::migrations::migrate(&mut connection, &options.path)?;
            Ok(connection)
        });
        let writer = writer.await?;
        let holds = Holds::new(&self.path, &self.program);
        let options = self.clone();
        let readers = Readers::start(threads, move || connection::open_for_reading(&options)).await?;
        Ok(SqliteStore(Arc::new(Shared {
            clock,
            eviction: self.eviction,
            writer,
            readers,
            holds,
            writes: WriteCounter::default(),
        })))
    }
}

impl SqliteStore {
    /// Opens a file with default options. See [`SqliteOptions::open`].
    ///
    /// # Errors
    /// When the file cannot be opened, is not a database of agcore, or was written by a newer version.
    pub async fn open(path: impl AsRef<Path>, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        SqliteOptions::new(path.as_ref()).open(clock).await
    }

    /// Waits until all writes that were started are completed. Dropping the store does not wait.
    pub async fn close(self) {
        // The error would be that the writer has ended already.
        let _ = self.0.writer.run(|_| Ok(())).await;
    }

    async fn write<T: Send + 'static, E: From<StoreError>>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, E> {
        Ok(self.0.writer.run(job).await?)
    }

    /// Writes a single statement, after which nothing may fail.
    async fn write_statement<T: Send + 'static, E: From<StoreError>>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, E> {
        Ok(self.0.writer.run_statement(job).await?)
    }

    async fn write_checked<T: Send + 'static, E: From<StoreError>>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, E> {
        Ok(self.0.writer.run_checked(job).await?)
    }

    async fn read<T: Send + 'static, E: From<StoreError>>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, E> {
        Ok(self.0.readers.run(job).await?)
    }

    /// Empties the write-ahead log, in which erased data would otherwise survive for a while.
    async fn truncate_log(&self) -> Result<(), StoreError> {
        self.0.writer.truncate_log().await
    }

    fn now(&self) -> Timestamp {
        self.0.clock.now().into()
    }
}
