//! [`InMemoryTextIndex`]: BM25 in the memory of the process.

mod settings;
mod terms;
mod postings;

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use async_trait::async_trait;

pub use self::{
    settings::{Bm25Formula, Bm25Settings},
    terms::{CountedTerms, TermCounter},
};

use self::postings::Postings;
use super::text_index::{IndexChanges, IndexHit, TextDocument, TextIndex, check_query};
use crate::{
    error::MemoryError,
    keywords::{KeywordExtractor, Keywords},
    knowledge::Position,
};

/// A [`TextIndex`] in the memory of the process, which ranks by BM25.
///
/// It is built when the program starts, at about 20 000 pages of 65 words per second, and needs about 10 bytes per different
/// word of a page.
///
/// ```
/// use agcore_memory::search::{InMemoryTextIndex, IndexChanges, TextDocument, TextIndex};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let index = InMemoryTextIndex::new();
/// let changes = IndexChanges::new(None, None)
///     .with_saved("tomatoes", TextDocument::new("tomatoes", "Tomatoes", "Water them in the morning."))
///     .with_saved("roses", TextDocument::new("roses", "Roses", "Cut them in spring."));
/// index.apply("local", changes).await?;
/// assert_eq!(index.search("local", "When should I water my tomatoes?", 1).await?[0].id, "tomatoes");
/// # Ok::<(), agcore_memory::MemoryError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct InMemoryTextIndex {
    extractor: Arc<dyn KeywordExtractor>,
    settings: Bm25Settings,
    tenants: RwLock<BTreeMap<String, Indexed>>,
}

/// The documents of a tenant.
#[derive(Debug, Default)]
struct Indexed {
    postings: Postings,
    position: Option<Position>,
}

impl InMemoryTextIndex {
    /// Creates an empty index with the default [`Keywords`].
    pub fn new() -> Self {
        Self::with_extractor(Arc::new(Keywords::new()))
    }

    /// Creates an empty index with other keywords.
    pub fn with_extractor(extractor: Arc<dyn KeywordExtractor>) -> Self {
        Self {
            extractor,
            settings: Bm25Settings::default(),
            tenants: RwLock::default(),
        }
    }

    /// Sets the parameters.
    #[must_use]
    pub fn with_settings(mut self, settings: Bm25Settings) -> Self {
        self.settings = settings;
        self
    }

    fn read<T: Default>(&self, tenant: &str, read: impl FnOnce(&Indexed) -> T) -> T {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        tenants.get(tenant).map_or_else(T::default, read)
    }

    /// Returns the documents that match best, as [`search`](TextIndex::search) does.
    pub(super) fn search_now(&self, tenant: &str, query: &str, limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        check_query(query)?;
        let keywords = self.extractor.keywords(query);
        if keywords.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let hits = self.read(tenant, |indexed| {
            indexed.postings.search(&keywords, limit, self.settings)
        });
        Ok(hits
            .into_iter()
            .map(|(id, score)| IndexHit::new(id, f64::from(score)))
            .collect())
    }

    /// Applies changes, as [`apply`](TextIndex::apply) does.
    pub(super) fn apply_now(&self, tenant: &str, changes: IndexChanges<TextDocument>) -> bool {
        // Before the lock, because this is what takes time.
        let mut counter = TermCounter::new();
        let mut count =
            |(id, document): (String, TextDocument)| (id, counter.count(&document, &*self.extractor, &self.settings));
        let saved: Vec<_> = changes.saved.into_iter().map(&mut count).collect();
        let terms = counter.into_terms();
        let mut tenants = self.tenants.write().unwrap_or_else(PoisonError::into_inner);
        let indexed = tenants.entry(tenant.to_owned()).or_default();
        if indexed.position != changes.after {
            return false;
        }
        if changes.is_reset {
            indexed.postings = Postings::default();
        }
        for id in &changes.removed {
            indexed.postings.remove(id);
        }
        indexed.postings.insert_all(saved, terms);
        indexed.position = changes.position;
        true
    }
}

impl Default for InMemoryTextIndex {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl TextIndex for InMemoryTextIndex {
    async fn position(&self, tenant: &str) -> Result<Option<Position>, MemoryError> {
        Ok(self.read(tenant, |indexed| indexed.position))
    }

    async fn apply(&self, tenant: &str, changes: IndexChanges<TextDocument>) -> Result<bool, MemoryError> {
        Ok(self.apply_now(tenant, changes))
    }

    async fn search(&self, tenant: &str, query: &str, limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        self.search_now(tenant, query, limit)
    }

    async fn count(&self, tenant: &str) -> Result<u64, MemoryError> {
        Ok(self.read(tenant, |indexed| indexed.postings.len() as u64))
    }
}
