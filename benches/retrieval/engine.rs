//! [`Engine`]: an index to measure.

use std::{env, path::Path, sync::Arc};

use agcore_chat::SystemClock;
use agcore_memory::search::{InMemoryTextIndex, IndexChanges, TextDocument, TextIndex};
use agcore_memory::{Actor, knowledge::KnowledgeStore};
use agcore_store::{
    postgres::{PostgresOptions, PostgresStore},
    sqlite::SqliteStore,
};
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
/// The index without files.
pub(crate) const IN_MEMORY: &str = "`InMemoryTextIndex`";

/// The engine with which others are compared: that of SQLite, which gets the same terms of the same documents.
pub(crate) const REFERENCE: &str = "FTS5, terms of agcore";

/// The variable with the URL of a PostgreSQL server, and the one that is used without it.
const POSTGRES: (&str, &str) = (
    "AGCORE_TEST_POSTGRES_URL",
    "postgres://postgres@127.0.0.1:5432/postgres",
);

/// The schema of the bench.
const SCHEMA: &str = "agcore_bench";

pub(crate) const ENGINES: [&str; 5] = [
    IN_MEMORY,
    "`SqliteStore::text_index`",
    "`PostgresStore::text_index`",
    REFERENCE,
    "FTS5 porter",
];

/// Returns why an engine cannot be measured, if it cannot.
pub(crate) async fn unavailable(name: &str) -> Option<String> {
    match name {
        "`PostgresStore::text_index`" => Some(postgres().await.err()?.to_string()),
        _ => None,
    }
}

async fn postgres() -> Fallible<PostgresStore> {
    let url = env::var(POSTGRES.0).unwrap_or_else(|_| POSTGRES.1.to_owned());
    let options = PostgresOptions::new(&url)?.with_schema(SCHEMA);
    Ok(options.open(Arc::new(SystemClock::new())).await?)
}

/// Opens an index, with its files in a folder. It is empty if it is new.
pub(crate) async fn open(name: &str, folder: &Path, is_new: bool) -> Fallible<Box<dyn Engine>> {
    Ok(match name {
        "`PostgresStore::text_index`" => {
            let store = postgres().await?;
            if is_new {
                // An erasure removes the index of the tenant.
                store.erase(&Actor::local()).await?;
            }
            Box::new(Indexed(store.text_index()))
        }
        "FTS5 porter" => Box::new(FullText::open(&folder.join("fts.db"), Terms::Porter)?),
        REFERENCE => Box::new(FullText::open(&folder.join("fts.db"), Terms::Own)?),
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
