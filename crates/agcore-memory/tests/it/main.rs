//! Runs the conformance suites on the stores of this crate.

use std::sync::Arc;

use agcore_memory::{Clock, EvictionConfig, InMemoryJournal, InMemoryStore, Journal, MemoryStore};
use agcore_testkit::stores::StoreSubject;
use async_trait::async_trait;

struct InMemory;

#[async_trait]
impl StoreSubject for InMemory {
    async fn memory_store(&self, clock: Arc<dyn Clock>, eviction: EvictionConfig) -> Arc<dyn MemoryStore> {
        Arc::new(InMemoryStore::new(clock).with_eviction(eviction))
    }

    async fn journal(&self) -> Arc<dyn Journal> {
        Arc::new(InMemoryJournal::new())
    }
}

mod memory_store {
    agcore_testkit::memory_store_tests!(super::InMemory);
}

mod journal {
    agcore_testkit::journal_tests!(super::InMemory);
}
