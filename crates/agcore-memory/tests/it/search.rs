//! Indexes that follow a store, and the retriever.

mod following;
mod graph;
mod quality;
mod retrieving;
mod turns;
mod vectors;

use std::sync::Arc;

use agcore_memory::{
    knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore},
    search::{InMemoryTextIndex, KnowledgeIndex, MemoryRetriever},
};
use agcore_testkit::clock::ManualClock;

/// A store with its index.
struct Wiki {
    store: Arc<InMemoryKnowledgeStore>,
    clock: Arc<ManualClock>,
}

impl Wiki {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::new());
        Self {
            store: Arc::new(InMemoryKnowledgeStore::new(Arc::clone(&clock) as _)),
            clock,
        }
    }

    async fn with(pages: impl IntoIterator<Item = KnowledgePage>) -> Self {
        let wiki = Self::new();
        wiki.store.upsert_many(pages.into_iter().collect()).await.unwrap();
        wiki
    }

    fn index(&self) -> KnowledgeIndex {
        KnowledgeIndex::new(Arc::clone(&self.store) as _, Arc::new(InMemoryTextIndex::new()))
    }

    fn retriever(&self) -> MemoryRetriever {
        MemoryRetriever::new(Arc::new(self.index()), Arc::clone(&self.clock) as _)
    }
}

/// Returns the ids of the pages that an index finds.
async fn found(index: &KnowledgeIndex, query: &str) -> Vec<String> {
    let hits = index.search("local", query, 10).await.unwrap();
    hits.into_iter().map(|hit| hit.id).collect()
}

/// Returns the ids of the pages that a retriever finds.
async fn retrieved(retriever: &MemoryRetriever, query: &str) -> Vec<String> {
    let retrieval = retriever.retrieve("local", query).await.unwrap();
    assert!(retrieval.failures.is_empty(), "{:?}", retrieval.failures);
    retrieval.hits.into_iter().map(|hit| hit.page.id).collect()
}
