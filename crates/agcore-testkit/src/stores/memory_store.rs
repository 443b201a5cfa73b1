//! The behaviors of memory stores. Each function checks one of them and panics with the reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

mod eviction;
mod filters;
mod items;

use std::{sync::Arc, time::Duration};

use agcore_memory::{EvictionConfig, MemoryFilter, MemoryItem, MemoryStore};

pub use self::{eviction::*, filters::*, items::*};

use super::StoreSubject;
use crate::clock::ManualClock;

/// A store, with the clock that it uses.
struct Opened {
    store: Arc<dyn MemoryStore>,
    clock: Arc<ManualClock>,
}

async fn open(subject: &dyn StoreSubject, eviction: EvictionConfig) -> Opened {
    let clock = Arc::new(ManualClock::new());
    let store = subject.memory_store(Arc::clone(&clock) as _, eviction).await;
    Opened { store, clock }
}

impl Opened {
    /// Saves an item, and lets a second pass.
    async fn save(&self, item: MemoryItem) {
        self.store.save(item).await.unwrap();
        self.clock.advance(Duration::from_secs(1));
    }

    async fn get(&self, id: &str) -> Option<MemoryItem> {
        self.store.get("local", id).await.unwrap()
    }

    /// Returns the ids that a filter selects.
    async fn ids(&self, filter: MemoryFilter) -> Vec<String> {
        let items = self.store.list(&filter).await.unwrap();
        items.into_iter().map(|item| item.id).collect()
    }

    async fn all_ids(&self) -> Vec<String> {
        self.ids(MemoryFilter::new("local")).await
    }
}
