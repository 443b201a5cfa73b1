//! [`RedisStore`]: a Redis server, or one that is compatible with it, such as Valkey.

mod options;
mod error;
mod keys;
mod scripts;
mod connection;
mod server;
mod memory;
mod journal;

use std::sync::Arc;

use agcore_chat::{Clock, Timestamp};
use agcore_memory::EvictionConfig;
use redis::Value;

use crate::error::StoreError;

pub use self::options::{ReconnectPolicy, RedisOptions};

use self::{
    connection::{Call, Connection},
    keys::Keys,
};
use crate::eviction::WriteCounter;

/// A [`MemoryStore`](agcore_memory::MemoryStore) and [`Journal`](agcore_session::Journal) in a Redis server, version 6 or newer.
///
/// Every operation is one command or one script, which the server runs as a whole: others see all of it or nothing. All
/// operations share a connection, which is replaced when it is lost. Cheap to clone; the connection is closed with the last
/// clone. Must be used in the tokio runtime in which it was opened.
///
/// ```no_run
/// # async fn open(clock: std::sync::Arc<dyn agcore_chat::Clock>) -> Result<(), agcore_store::StoreError> {
/// use agcore_memory::{MemoryItem, MemoryStore};
/// use agcore_store::redis::RedisStore;
///
/// let store = RedisStore::open("redis://127.0.0.1:6379", clock).await?;
/// store.save(MemoryItem::new("notes/tea", "Ann likes green tea.")).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Durability
///
/// Redis keeps its data in memory. What an acknowledged write survives is decided by the configuration of the server:
///
/// | configuration | an acknowledged write survives |
/// |---|---|
/// | any | the death of this program, but not of the server |
/// | `appendonly yes`, `appendfsync always` | the death of the server, and a loss of power |
/// | `appendonly yes`, `appendfsync everysec` (the default of `appendfsync`) | neither for certain: both can cost up to two seconds |
/// | only snapshots (`save`, the default) | neither: everything since the last snapshot is lost |
///
/// Replication is asynchronous: when a replica takes over, writes that the primary had acknowledged can be lost, whatever is
/// configured. `min-replicas-to-write` makes that less likely. Use SQLite or PostgreSQL for data that must not be lost.
///
/// The server must not remove data by itself: set `maxmemory-policy noeviction` (the default), and let
/// [`EvictionConfig`] decide what to remove. Writes fail when the memory is full; deleting still works.
///
/// # Limits
///
/// - A Redis Cluster is not supported. Keys have hash tags, so that data can be moved into one later: the items of a store
///   are in one slot, and each stream is in one.
/// - Lists with a prefix or an owner read all items of that prefix or owner, other lists stop when they are complete. The
///   server does nothing else in the meantime: 100 000 items take some tenths of a second.
/// - An item or a record has at most 512 MB, which is the limit of the server (`proto-max-bulk-len`).
/// - [`erase`](agcore_memory::MemoryStore::erase) removes data from the memory of the server. Snapshots and append-only files
///   contain it until the server writes them again (`BGSAVE`, `BGREWRITEAOF`), and backups for as long as they are kept.
///
/// # Cancel safety
///
/// If the future of a write is dropped, the write takes place completely or not at all.
#[derive(Debug, Clone)]
pub struct RedisStore(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Arc<dyn Clock>,
    eviction: EvictionConfig,
    keys: Keys,
    connection: Connection,
    /// The number of items that were saved, to know when to apply the policies.
    writes: WriteCounter,
}

impl RedisOptions {
    /// Connects to the server, and checks that it can hold the store.
    ///
    /// # Errors
    /// When an option is not acceptable, the server cannot be reached or used, or its data was written by a newer version.
    pub async fn open(self, clock: Arc<dyn Clock>) -> Result<RedisStore, StoreError> {
        self.check()?;
        let keys = Keys::new(&self.key_prefix);
        let connection = Connection::new(&self, Arc::clone(&clock))?;
        server::check(&connection).await?;
        server::check_format(&connection, &keys).await?;
        Ok(RedisStore(Arc::new(Shared {
            clock,
            eviction: self.eviction,
            keys,
            connection,
            writes: WriteCounter::default(),
        })))
    }
}

impl RedisStore {
    /// Connects to the server at a URL with default options. See [`RedisOptions::new`] and [`RedisOptions::open`].
    ///
    /// # Errors
    /// When the URL is not acceptable, the server cannot be reached or used, or its data was written by a newer version.
    pub async fn open(url: &str, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        RedisOptions::new(url)?.open(clock).await
    }

    /// Waits until all writes that were started are completed, and closes the connection. Other clones of the store cannot be
    /// used any more. Dropping the store does not wait.
    pub async fn close(self) {
        self.0.connection.close().await;
    }

    async fn run(&self, call: &Call) -> Result<Value, StoreError> {
        self.0.connection.run(call).await
    }

    fn now(&self) -> Timestamp {
        self.0.clock.now().into()
    }
}
