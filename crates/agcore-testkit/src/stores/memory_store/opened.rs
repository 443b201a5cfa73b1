//! [`Opened`]: a store to check.

use std::{sync::Arc, time::Duration};

use agcore_memory::{EvictionConfig, MemoryFilter, MemoryItem, MemoryStore};

use crate::{clock::ManualClock, stores::MemoryStoreSubject};

/// A store, with the clock that it uses.
pub(super) struct Opened {
    pub(super) store: Arc<dyn MemoryStore>,
    pub(super) clock: Arc<ManualClock>,
}

/// Opens an empty store with a clock that does not move by itself.
pub(super) async fn open(subject: &dyn MemoryStoreSubject, eviction: EvictionConfig) -> Opened {
    let clock = Arc::new(ManualClock::new());
    let store = subject.memory_store(Arc::clone(&clock) as _, eviction).await;
    Opened { store, clock }
}

impl Opened {
    /// Saves an item, and lets a second pass.
    pub(super) async fn save(&self, item: MemoryItem) {
        self.store.save(item).await.unwrap();
        self.clock.advance(Duration::from_secs(1));
    }

    pub(super) async fn get(&self, id: &str) -> Option<MemoryItem> {
        self.store.get("local", id).await.unwrap()
    }

    /// Returns the ids that a filter selects.
    pub(super) async fn ids(&self, filter: MemoryFilter) -> Vec<String> {
        let items = self.store.list(&filter).await.unwrap();
        items.into_iter().map(|item| item.id).collect()
    }

    pub(super) async fn all_ids(&self) -> Vec<String> {
        self.ids(MemoryFilter::new("local")).await
    }
}
