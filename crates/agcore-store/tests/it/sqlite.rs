mod files;

use std::sync::{Arc, Mutex, PoisonError};

use agcore_memory::{Clock, EvictionConfig, Journal, MemoryStore};
use agcore_store::sqlite::SqliteOptions;
use agcore_testkit::{clock::ManualClock, stores::StoreSubject};
use async_trait::async_trait;
use tempfile::TempDir;

/// Opens each store in a directory of its own, which is removed at the end.
#[derive(Default)]
struct Sqlite(Mutex<Vec<TempDir>>);

impl Sqlite {
    fn options(&self) -> SqliteOptions {
        let directory = tempfile::tempdir().unwrap();
        let options = SqliteOptions::new(directory.path().join("agcore.db"));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(directory);
        options
    }
}

#[async_trait]
impl StoreSubject for Sqlite {
    async fn memory_store(&self, clock: Arc<dyn Clock>, eviction: EvictionConfig) -> Arc<dyn MemoryStore> {
        Arc::new(self.options().with_eviction(eviction).open(clock).await.unwrap())
    }

    async fn journal(&self) -> Arc<dyn Journal> {
        Arc::new(self.options().open(Arc::new(ManualClock::new())).await.unwrap())
    }
}

mod memory_store {
    agcore_testkit::memory_store_tests!(super::Sqlite::default());
}

mod journal {
    agcore_testkit::journal_tests!(super::Sqlite::default());
}
