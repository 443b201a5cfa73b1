//! [`Subject`]: the store to use.

use std::{path::Path, sync::Arc};

use agcore_chat::Clock;
use agcore_session::{InMemorySessionStore, RunLeases, SessionReader, SessionRetention, SessionWriter};
use agcore_store::sqlite::SqliteOptions;
use tempfile::TempDir;

use crate::Fallible;

/// A folder in memory, where there is one. Without it, the files are in the temporary directory.
const IN_MEMORY: &str = "/dev/shm";

/// The part of a store that is used besides its leases.
pub trait Sessions: SessionReader + SessionWriter + SessionRetention {}

impl<S: SessionReader + SessionWriter + SessionRetention + ?Sized> Sessions for S {}

/// The store to use. Its leases can be those of another implementation, such as one with a defect.
#[derive(Debug)]
pub struct Subject {
    /// The store.
    pub store: Arc<dyn Sessions>,
    /// The leases of its runs.
    pub leases: Arc<dyn RunLeases>,
    _directory: Option<TempDir>,
}

/// The kind of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file of SQLite.
    Sqlite,
    /// The memory of the process.
    InMemory,
}

impl Subject {
    /// Opens an empty store with a clock.
    ///
    /// # Errors
    /// When there is no place for the file.
    pub async fn open(kind: Kind, clock: Arc<dyn Clock>) -> Fallible<Self> {
        match kind {
            Kind::Sqlite => {
                let directory = match Path::new(IN_MEMORY).is_dir() {
                    true => tempfile::tempdir_in(IN_MEMORY)?,
                    false => tempfile::tempdir()?,
                };
                let options = SqliteOptions::new(directory.path().join("leases.db")).with_readers(1);
                let store = Arc::new(options.open(clock).await?);
                Ok(Self::new(store, Some(directory)))
            }
            Kind::InMemory => {
                let store = Arc::new(InMemorySessionStore::new(clock));
                Ok(Self::new(store, None))
            }
        }
    }

    fn new<S: Sessions + RunLeases + 'static>(store: Arc<S>, directory: Option<TempDir>) -> Self {
        Self {
            leases: Arc::clone(&store) as _,
            store,
            _directory: directory,
        }
    }
}
