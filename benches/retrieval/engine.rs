//! [`Engine`]: an index to measure.

use std::{path::Path, sync::Arc};

use agcore_chat::SystemClock;
use agcore_memory::search::{InMemoryTextIndex, IndexChanges, TextDocument, TextIndex};
use agcore_store::sqlite::SqliteStore;
use async_trait::async_trait;

use crate::{
    Fallible,
    fts::{FullText, Terms},
};

/// The number of documents that are added together.
pub(crate) const BATCH: usize = 128;

/// An index.
#[async_trait]
pub(crate) trait Engine: Send {
    /// Adds documents.
    async fn add(&mut self, documents: &[TextDocument]) -> Fallible;

    /// Returns the ids of the best documents.
    async fn search(&mut self, query: &str, limit: usize) -> Fallible<Vec<String>>;
}

/// The names of all engines.
pub(crate) const ENGINES: [&str; 4] = [
    "`InMemoryTextIndex`",
    "`SqliteStore::text_index`",
    "FTS5, terms of agcore",
    "FTS5 porter",
];

/// Creates an empty index, with its files in a folder.
pub(crate) async fn open(name: &str, folder: &Path) -> Fallible<Box<dyn Engine>> {
    Ok(match name {
        "FTS5 porter" => Box::new(FullText::create(&folder.join("fts.db"), Terms::Porter)?),
        "FTS5, terms of agcore" => Box::new(FullText::create(&folder.join("fts.db"), Terms::Own)?),
        "`SqliteStore::text_index`" => {
            let store = SqliteStore::open(folder.join("agcore.db"), Arc::new(SystemClock::new())).await?;
            Box::new(Indexed(store.text_index()))
        }
        _ => Box::new(Indexed(InMemoryTextIndex::new())),
    })
}

/// An index of agcore.
struct Indexed<I>(I);

#[async_trait]
impl<I: TextIndex> Engine for Indexed<I> {
    async fn add(&mut self, documents: &[TextDocument]) -> Fallible {
        for batch in documents.chunks(BATCH) {
            let mut changes = IndexChanges::new(None, None);
            changes.saved = batch
                .iter()
                .map(|document| (document.id.clone(), document.clone()))
                .collect();
            self.0.apply("local", changes).await?;
        }
        Ok(())
    }

    async fn search(&mut self, query: &str, limit: usize) -> Fallible<Vec<String>> {
        let hits = self.0.search("local", query, limit).await?;
        Ok(hits.into_iter().map(|hit| hit.id).collect())
    }
}
