//! [`SqliteTextIndex`]: an index of texts in the tables of a file.

mod state;
mod write;

use std::{collections::BTreeMap, sync::Arc};

use agcore_memory::{
    MemoryError,
    knowledge::Position,
    search::{Bm25Settings, IndexChanges, IndexHit, KeywordExtractor, Keywords, TextDocument, TextIndex, check_query},
};
use async_trait::async_trait;
use rusqlite::{Connection, params};

use crate::error::StoreError;

pub(super) use self::state::position;

use self::state::{READ, State, state};
use super::{
    SqliteStore,
    error::convert,
    rows::{select, select_one},
};
use crate::sql::text::{Lengths, Prepared, Query, TermPostings, find, format_of};

/// A [`TextIndex`] in the file of a [`SqliteStore`], which ranks by BM25 and gives the same scores as
/// [`InMemoryTextIndex`](agcore_memory::search::InMemoryTextIndex).
///
/// Nothing is read when it is opened: a search reads the postings of its keywords. The index and its position are written in one
/// transaction. An index whose texts were converted to terms by other rules is built again.
/// [`erase`](agcore_memory::knowledge::KnowledgeStore::erase) of the same file removes the index of the tenant.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use std::sync::Arc;
///
/// use agcore_chat::SystemClock;
/// use agcore_memory::{
///     knowledge::{KnowledgePage, KnowledgeStore},
///     search::{KnowledgeIndex, MemoryRetriever},
/// };
/// use agcore_store::sqlite::SqliteStore;
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("agcore.db");
/// let clock = Arc::new(SystemClock::new());
/// let store = SqliteStore::open(&path, clock.clone()).await?;
/// store.add(KnowledgePage::new("tomatoes", "Tomatoes", "Water them in the morning.")).await?;
///
/// let texts = Arc::new(store.text_index());
/// let retriever = MemoryRetriever::new(Arc::new(KnowledgeIndex::new(Arc::new(store), texts)), clock);
/// assert_eq!(retriever.retrieve("local", "When do I water tomatoes?").await?.hits[0].page.id, "tomatoes");
/// # Ok::<(), agcore_store::StoreError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct SqliteTextIndex {
    store: SqliteStore,
    extractor: Arc<dyn KeywordExtractor>,
    settings: Bm25Settings,
}

impl SqliteStore {
    /// Returns the index of texts in this file, with the default [`Keywords`].
    pub fn text_index(&self) -> SqliteTextIndex {
        SqliteTextIndex {
            store: self.clone(),
            extractor: Arc::new(Keywords::new()),
            settings: Bm25Settings::default(),
        }
    }
}

impl SqliteTextIndex {
    /// Sets the keywords.
    #[must_use]
    pub fn with_extractor(mut self, extractor: Arc<dyn KeywordExtractor>) -> Self {
        self.extractor = extractor;
        self
    }

    /// Sets the parameters.
    #[must_use]
    pub fn with_settings(mut self, settings: Bm25Settings) -> Self {
        self.settings = settings;
        self
    }

    fn format(&self) -> String {
        format_of(&*self.extractor, self.settings)
    }
}

#[async_trait]
impl TextIndex for SqliteTextIndex {
    async fn position(&self, tenant: &str) -> Result<Option<Position>, MemoryError> {
        let (tenant, format) = (tenant.to_owned(), self.format());
        let read = move |connection: &Connection| state(connection, &tenant, &format);
        let state = self.store.read::<_, StoreError>(read).await?;
        Ok(state.and_then(|state| state.position))
    }

    async fn apply(&self, tenant: &str, changes: IndexChanges<TextDocument>) -> Result<bool, MemoryError> {
        let (tenant, format) = (tenant.to_owned(), self.format());
        let prepared = Prepared::new(changes, &*self.extractor, self.settings);
        let apply = move |connection: &Connection| write::apply(connection, &tenant, &format, &prepared);
        self.store.write(apply).await
    }

    async fn search(&self, tenant: &str, query: &str, limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        check_query(query)?;
        let keywords = self.extractor.keywords(query);
        let (tenant, format, settings) = (tenant.to_owned(), self.format(), self.settings);
        let search = move |connection: &Connection| {
            // All tables as they are at one moment.
            let transaction = connection
                .unchecked_transaction()
                .map_err(|error| convert(READ, error))?;
            match state(&transaction, &tenant, &format)? {
                Some(state) => best(&transaction, &state, &keywords, settings, limit),
                None => Ok(Vec::new()),
            }
        };
        self.store.read(search).await
    }

    async fn count(&self, tenant: &str) -> Result<u64, MemoryError> {
        let (tenant, format) = (tenant.to_owned(), self.format());
        let read = move |connection: &Connection| state(connection, &tenant, &format);
        let state = self.store.read::<_, StoreError>(read).await?;
        Ok(state.map_or(0, |state| state.documents))
    }
}

/// Returns the documents that match best.
fn best(
    connection: &Connection,
    state: &State,
    keywords: &[String],
    settings: Bm25Settings,
    limit: usize,
) -> Result<Vec<IndexHit>, StoreError> {
    let lengths = lengths(connection, state.index)?;
    let mut postings = Vec::with_capacity(keywords.len());
    for keyword in keywords {
        let mut blocks = Vec::new();
        for block in lengths.keys() {
            let sql = "SELECT terms FROM text_leaves WHERE text_index = ?1 AND block = ?2 AND first <= ?3
                       ORDER BY first DESC LIMIT 1";
            let key = params![state.index, block, keyword.as_bytes()];
            let found = select_one(connection, READ, sql, key, |row| {
                let leaf = row.get_ref(0)?.as_blob()?;
                Ok(find(leaf, keyword.as_bytes()).map(|entries| entries.map(<[u8]>::to_vec)))
            })?;
            blocks.extend(found.transpose()?.flatten().map(|entries| (*block, entries)));
        }
        postings.push(TermPostings(blocks));
    }
    let query = Query::new(settings, state.documents, state.length, postings)?;
    let mut hits = Vec::new();
    for (number, score) in query.best(&lengths, limit)? {
        let sql = "SELECT id FROM text_documents WHERE text_index = ?1 AND number = ?2";
        let id: Option<String> = select_one(connection, READ, sql, [state.index, number], |row| row.get(0))?;
        hits.extend(id.map(|id| IndexHit::new(id, f64::from(score))));
    }
    Ok(Query::sorted(hits, limit))
}

/// Returns the lengths of the documents of all blocks.
fn lengths(connection: &Connection, index: i64) -> Result<BTreeMap<i64, Lengths>, StoreError> {
    let sql = "SELECT block, lengths FROM text_lengths WHERE text_index = ?1";
    let rows: Vec<(i64, Vec<u8>)> = select(connection, READ, sql, [index], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let read = |(block, bytes): (i64, Vec<u8>)| Ok((block, Lengths::from_bytes(&bytes)?));
    rows.into_iter().map(read).collect()
}
