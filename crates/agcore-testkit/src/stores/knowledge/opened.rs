//! [`Opened`]: a store to check.

use std::{sync::Arc, time::Duration};

use agcore_memory::knowledge::{KnowledgePage, KnowledgeStore, PageFilter};

use crate::{clock::ManualClock, stores::KnowledgeStoreSubject};

/// A store, with the clock that it uses.
pub(super) struct Opened {
    pub(super) store: Arc<dyn KnowledgeStore>,
    pub(super) clock: Arc<ManualClock>,
}

/// Opens an empty store with a clock that does not move by itself.
pub(super) async fn open(subject: &dyn KnowledgeStoreSubject) -> Opened {
    let clock = Arc::new(ManualClock::new());
    let store = subject.knowledge_store(Arc::clone(&clock) as _).await;
    Opened { store, clock }
}

/// Returns a page with an id and nothing else.
pub(super) fn page(id: &str) -> KnowledgePage {
    KnowledgePage::new(id, "", "")
}

impl Opened {
    /// Saves a page, and lets a second pass.
    pub(super) async fn save(&self, page: KnowledgePage) {
        self.store.upsert(page).await.unwrap();
        self.clock.advance(Duration::from_secs(1));
    }

    pub(super) async fn get(&self, id: &str) -> Option<KnowledgePage> {
        self.store.get("local", id).await.unwrap()
    }

    /// Returns the ids that a filter selects.
    pub(super) async fn ids(&self, filter: PageFilter) -> Vec<String> {
        let pages = self.store.list(&filter).await.unwrap();
        pages.into_iter().map(|page| page.id).collect()
    }

    pub(super) async fn all_ids(&self) -> Vec<String> {
        self.ids(PageFilter::new("local")).await
    }
}
