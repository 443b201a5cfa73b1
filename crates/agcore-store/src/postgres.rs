//! [`PostgresStore`]: tables of a PostgreSQL server.

mod text;
mod error;
mod connection;
mod rows;
mod query;
mod migrations;
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
mod vacuum;

use std::sync::{Arc, atomic::AtomicBool};

use agcore_chat::{Clock, Timestamp};
use agcore_memory::EvictionConfig;

use crate::error::{StoreError, StoreErrorKind};

pub use self::{
    connection::options::PostgresOptions, text_index::PostgresTextIndex, vector_index::PostgresVectorIndex,
};

use self::{
    connection::{announcements::Announcements, statements::Statements},
    error::convert,
    holds::Holds,
    query::{NOW, statement},
};
use crate::{eviction::WriteCounter, sql::row::SqlRow};

/// A [`MemoryStore`](agcore_memory::MemoryStore), [`Journal`](agcore_session::Journal),
/// [`SessionStore`](agcore_session::SessionStore), [`CheckpointStore`](agcore_session::CheckpointStore),
/// [`KnowledgeStore`](agcore_memory::knowledge::KnowledgeStore), [`KnowledgeGraph`](agcore_memory::graph::KnowledgeGraph),
/// [`ScheduleStore`](agcore_schedule::ScheduleStore), [`WebhookStore`](agcore_webhook::WebhookStore) and
/// [`QuotaStore`](agcore_session::quota::QuotaStore) in tables of a PostgreSQL server.
///
/// Any number of processes can use the same tables. Cheap to clone; all clones share a pool of connections.
///
/// ```no_run
/// # async fn open() -> Result<(), agcore_store::StoreError> {
/// use std::sync::Arc;
///
/// use agcore_chat::SystemClock;
/// use agcore_memory::{MemoryItem, MemoryStore};
/// use agcore_store::postgres::PostgresStore;
///
/// let url = "postgres://ann:secret@db.example/app?sslmode=verify-full";
/// let store = PostgresStore::open(url, Arc::new(SystemClock::new())).await?;
/// store.save(MemoryItem::new("notes/tea", "Ann likes green tea.")).await?;
/// store.close().await;
/// # Ok(())
/// # }
/// ```
///
/// # Durability
///
/// Every operation is one transaction, and most are one statement. A write that was acknowledged survives the death of this
/// process and, with the default settings of the server (`fsync` and `synchronous_commit` are on), the death of the server and
/// a loss of power. Standbys may lose the last writes unless replication is synchronous.
///
/// If an error states that a write may have taken place, or if the future of a write is dropped, the write takes place
/// completely or not at all. Saving the same items again is harmless; before records are appended or committed again, read
/// the stream.
///
/// # Erasure
///
/// Deleted rows stay in the files of the tables for a while, also those of [`erase`](agcore_memory::MemoryStore::erase)
/// and [`erase_sessions`](agcore_session::SessionRetention::erase_sessions).
/// [`vacuum`](Self::vacuum) removes them. It cannot reach copies elsewhere: the write-ahead log, which the server recycles
/// after checkpoints, archives of that log, standbys, backups, and blocks that the file system has freed.
///
/// # Leases
///
/// [Leases of runs](agcore_session::RunLeases) expire by the clock of the server, so that the clocks of the machines need not
/// agree. [Schedules](agcore_schedule::ScheduleStore) and [messages to webhooks](agcore_webhook::WebhookStore) are due by that
/// clock, too, and the windows of [quotas](agcore_session::quota::QuotaStore) begin by it. Renew leases with a store of their own,
/// so that they do not wait for a connection behind other work.
///
/// [Announcements](agcore_session::RunLeases::announced) of runs are notifications of the server (`NOTIFY`). A call that waits for
/// them opens a connection to the server itself that listens, and keeps it.
///
/// # Server
///
/// Tested with PostgreSQL 15. The database must have the encoding UTF-8. Connections set `search_path` and
/// `statement_timeout` when they start and use prepared statements, so that a pooler in between has to work by session.
///
/// Through a pooler that works by transaction, such as PgBouncer with `pool_mode = transaction`, use a URL with the address of the
/// server itself in the parameter `direct`: `postgres://USER@POOLER:6432/DATABASE?direct=SERVER:5432`. Each statement is then a
/// transaction that sets what it needs, which takes two more round trips. Locks, migrations and [`vacuum`](Self::vacuum) use
/// connections to the server itself, one per process most of the time.
///
/// The driver reads the environment variables `PGOPTIONS`, `PGSSLROOTCERT`, `PGSSLCERT` and `PGSSLKEY`; everything else comes
/// from [`PostgresOptions`].
#[derive(Debug, Clone)]
pub struct PostgresStore(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Arc<dyn Clock>,
    eviction: EvictionConfig,
    statements: Statements,
    holds: Holds,
    announcements: Announcements,
    writes: WriteCounter,
    /// Whether a tenant had a ceiling at the last claim. A claim that finds out otherwise begins again.
    has_ceilings: AtomicBool,
    quota_turns: connection::turns::Turns,
}

impl PostgresOptions {
    /// Connects to the server, creates the tables or migrates them. Must be called within a runtime of tokio.
    ///
    /// # Errors
    /// When the options are not acceptable, the server cannot be reached or refuses the user, or the schema contains tables
    /// of another program or of a newer version.
    pub async fn open(self, clock: Arc<dyn Clock>) -> Result<PostgresStore, StoreError> {
        self.check()?;
        let mut connection = connection::connect::connect_directly(&self, self.acquire_timeout).await?;
        migrations::migrate(&mut connection, &self.schema).await?;
        if self.server.is_pooled() {
            connection::connect::check_pooler(&self, &mut connection).await?;
        }
        // The connection has done its work; if it cannot be closed in order, it is closed anyway.
        let _ = sqlx::Connection::close(connection).await;
        Ok(PostgresStore(Arc::new(Shared {
            clock,
            eviction: self.eviction.clone(),
            holds: Holds::new(self.clone()),
            announcements: Announcements::new(&self),
            statements: Statements::new(self),
            writes: WriteCounter::default(),
            has_ceilings: AtomicBool::new(false),
            quota_turns: connection::turns::Turns::default(),
        })))
    }
}

impl PostgresStore {
    /// Connects to the server at a URL with default options. See [`PostgresOptions::new`] and [`PostgresOptions::open`].
    ///
    /// # Errors
    /// When the URL is not usable, the server cannot be reached or refuses the user, or the schema contains tables of another
    /// program or of a newer version.
    pub async fn open(url: &str, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        PostgresOptions::new(url)?.open(clock).await
    }

    /// Waits until the operations that run are finished, and closes all connections, also those of clones. Dropping the store
    /// closes them without waiting.
    pub async fn close(self) {
        self.0.holds.close();
        self.0.announcements.close().await;
        self.0.statements.close().await;
    }

    fn statements(&self) -> &Statements {
        &self.0.statements
    }

    fn eviction(&self) -> &EvictionConfig {
        &self.0.eviction
    }

    fn now(&self) -> Timestamp {
        self.0.clock.now().into()
    }

    /// Returns the time of the server.
    async fn time(&self) -> Result<Timestamp, StoreError> {
        let attempt = "cannot ask the server for the time";
        let asking = statement(format!("SELECT {NOW} AS now"));
        let row = self.statements().row(attempt, asking).await?;
        let row = row.ok_or_else(|| StoreError::new(StoreErrorKind::Storage, attempt))?;
        row.time("now").map_err(|error| convert(attempt, error))
    }
}
