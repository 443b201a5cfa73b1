//! [`PostgresTextIndex`]: an index of texts in tables of a server.

mod state;
mod write;

use std::{collections::BTreeMap, sync::Arc};

use agcore_memory::{
    MemoryError,
    knowledge::Position,
    search::{Bm25Settings, IndexChanges, IndexHit, KeywordExtractor, Keywords, TextDocument, TextIndex, check_query},
};
use async_trait::async_trait;
use sqlx::Row;

use crate::error::StoreError;

pub(super) use self::state::position;

use self::state::State;
use super::{
    PostgresStore,
    connection::{statement::FetchRow, transaction::Transaction},
    error::convert,
    text::lookup,
};
use crate::sql::text::{Lengths, Prepared, Query, TermPostings, find, format_of};

const READ: &str = "cannot read the index of texts";

/// A [`TextIndex`] in the tables of a [`PostgresStore`], which ranks by BM25 and gives the same scores as
/// [`InMemoryTextIndex`](agcore_memory::search::InMemoryTextIndex).
///
/// A search reads the postings of its keywords. The index and its position are written in one transaction, and all processes that
/// use the tables share them. An index whose texts were converted to terms by other rules is built again.
/// [`erase`](agcore_memory::knowledge::KnowledgeStore::erase) of the same tables removes the index of the tenant.
#[derive(Debug, Clone)]
pub struct PostgresTextIndex {
    store: PostgresStore,
    extractor: Arc<dyn KeywordExtractor>,
    settings: Bm25Settings,
}

impl PostgresStore {
    /// Returns the index of texts in these tables, with the default [`Keywords`].
    pub fn text_index(&self) -> PostgresTextIndex {
        PostgresTextIndex {
            store: self.clone(),
            extractor: Arc::new(Keywords::new()),
            settings: Bm25Settings::default(),
        }
    }
}

impl PostgresTextIndex {
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

    /// Returns the index of a tenant, unless it has another format.
    async fn state(&self, on: &mut impl FetchRow, tenant: &str) -> Result<Option<State>, StoreError> {
        let sql = "SELECT text_index, documents, length, next, generation, change FROM text_indexes
                   WHERE tenant = $1 AND format = $2";
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(self.format());
        let row = on.row(READ, statement).await?;
        let state = row.as_ref().map(State::read).transpose();
        state.map_err(|error| convert(READ, error))
    }

    async fn best(
        &self,
        transaction: &mut Transaction<'_>,
        tenant: &str,
        keywords: &[String],
        limit: usize,
    ) -> Result<Vec<IndexHit>, StoreError> {
        let failed = |error| convert(READ, error);
        // All tables as they are at one moment.
        let snapshot = sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
        transaction.execute(READ, snapshot).await?;
        let Some(state) = self.state(transaction, tenant).await? else {
            return Ok(Vec::new());
        };
        let postings = postings(transaction, state.index, keywords).await?;
        let query = Query::new(self.settings, state.documents.unsigned_abs(), state.length, postings)?;
        let lengths = lengths(transaction, state.index).await?;
        let best: BTreeMap<i64, f32> = query.best(&lengths, limit)?.into_iter().collect();
        let sql = "SELECT number, id FROM text_documents WHERE text_index = $1 AND number = ANY($2)";
        let numbers: Vec<i64> = best.keys().copied().collect();
        let statement = sqlx::query(sql).bind(state.index).bind(numbers);
        let mut hits = Vec::with_capacity(best.len());
        for row in transaction.rows(READ, statement).await? {
            let number: i64 = row.try_get("number").map_err(failed)?;
            let id: String = row.try_get("id").map_err(failed)?;
            hits.extend(best.get(&number).map(|score| IndexHit::new(id, f64::from(*score))));
        }
        Ok(Query::sorted(hits, limit))
    }
}

#[async_trait]
impl TextIndex for PostgresTextIndex {
    async fn position(&self, tenant: &str) -> Result<Option<Position>, MemoryError> {
        let state = self.state(&mut self.store.statements(), tenant).await?;
        Ok(state.and_then(|state| state.position))
    }

    async fn apply(&self, tenant: &str, changes: IndexChanges<TextDocument>) -> Result<bool, MemoryError> {
        let prepared = Prepared::new(changes, &*self.extractor, self.settings);
        let mut transaction = self.store.statements().begin(write::WRITE).await?;
        let applied = write::apply(&mut transaction, tenant, &self.format(), &prepared).await;
        Ok(transaction.end(write::WRITE, applied).await?)
    }

    async fn search(&self, tenant: &str, query: &str, limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        check_query(query)?;
        let keywords = self.extractor.keywords(query);
        if keywords.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let mut transaction = self.store.statements().begin(READ).await?;
        let hits = self.best(&mut transaction, tenant, &keywords, limit).await;
        Ok(transaction.end(READ, hits).await?)
    }

    async fn count(&self, tenant: &str) -> Result<u64, MemoryError> {
        let state = self.state(&mut self.store.statements(), tenant).await?;
        Ok(state.map_or(0, |state| state.documents.unsigned_abs()))
    }
}

/// Returns the postings of keywords, in their order.
async fn postings(
    transaction: &mut Transaction<'_>,
    index: i64,
    keywords: &[String],
) -> Result<Vec<TermPostings>, StoreError> {
    let failed = |error| convert(READ, error);
    let sql = "SELECT place, block, terms FROM unnest($2::bytea[]) WITH ORDINALITY AS wanted (wanted, place)
               CROSS JOIN (SELECT block FROM text_lengths WHERE text_index = $1) AS blocks
               CROSS JOIN LATERAL (SELECT terms FROM text_leaves AS leaves
                                   WHERE leaves.text_index = $1 AND leaves.block = blocks.block AND first <= wanted
                                   ORDER BY first DESC LIMIT 1) AS leaf ORDER BY place, block";
    let wanted: Vec<&[u8]> = keywords.iter().map(String::as_bytes).collect();
    let statement = sqlx::query(sql).bind(index).bind(wanted);
    let mut postings: BTreeMap<i64, TermPostings> = BTreeMap::new();
    for row in transaction.rows(READ, statement).await? {
        let place: i64 = row.try_get("place").map_err(failed)?;
        let leaf: &[u8] = row.try_get("terms").map_err(failed)?;
        let keyword = usize::try_from(place - 1).ok().and_then(|place| keywords.get(place));
        if let Some(entries) = find(leaf, keyword.map_or(&[], String::as_bytes))? {
            let block = row.try_get("block").map_err(failed)?;
            postings.entry(place).or_default().0.push((block, entries.to_vec()));
        }
    }
    Ok(postings.into_values().collect())
}

/// Returns the lengths of the documents of all blocks.
async fn lengths(transaction: &mut Transaction<'_>, index: i64) -> Result<BTreeMap<i64, Lengths>, StoreError> {
    let failed = |error| convert(READ, error);
    let sql = "SELECT block, lengths FROM text_lengths WHERE text_index = $1";
    let mut lengths = BTreeMap::new();
    for row in transaction.rows(READ, sqlx::query(sql).bind(index)).await? {
        let bytes: &[u8] = row.try_get("lengths").map_err(failed)?;
        lengths.insert(row.try_get("block").map_err(failed)?, Lengths::from_bytes(bytes)?);
    }
    Ok(lengths)
}
