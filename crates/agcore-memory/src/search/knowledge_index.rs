//! [`KnowledgeIndex`]: indexes that follow a store.

use std::{fmt, sync::Arc};

use agcore_chat::Embedder;

use super::{
    embedder_calls::EmbedderCalls,
    text_index::{IndexChanges, IndexHit, TextIndex, check_query},
    vector_index::{VectorIndex, check_vector},
};
use crate::{
    error::MemoryError,
    knowledge::{Changes, KnowledgePage, KnowledgeStore},
};

/// The number of changes that are applied together.
const BATCH: u64 = 128;

/// The number of texts of a request to an embedder.
const EMBEDDED: usize = 32;

/// A [`KnowledgeStore`] with indexes that follow it.
///
/// Before every search, the indexes learn what has changed since the last one, no matter which program has changed it. An index
/// that is empty, or belongs to another store, is built again. Share one value between all retrievers of a program.
pub struct KnowledgeIndex {
    store: Arc<dyn KnowledgeStore>,
    texts: Arc<dyn TextIndex>,
    vectors: Option<Vectors>,
}

struct Vectors {
    embedder: Arc<dyn Embedder>,
    index: Arc<dyn VectorIndex>,
}

impl fmt::Debug for KnowledgeIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnowledgeIndex")
            .field("store", &self.store)
            .field("texts", &self.texts)
            .field("vectors", &self.vectors.as_ref().map(|vectors| &vectors.index))
            .finish()
    }
}

impl KnowledgeIndex {
    /// Creates an index of texts that follows a store. Nothing is read yet.
    pub fn new(store: Arc<dyn KnowledgeStore>, texts: Arc<dyn TextIndex>) -> Self {
        Self {
            store,
            texts,
            vectors: None,
        }
    }

    /// Adds an index of vectors. The embedder is called for each page that changes, and for each query.
    #[must_use]
    pub fn with_vectors(mut self, embedder: Arc<dyn Embedder>, index: Arc<dyn VectorIndex>) -> Self {
        self.vectors = Some(Vectors { embedder, index });
        self
    }

    /// Returns the store.
    pub fn store(&self) -> &Arc<dyn KnowledgeStore> {
        &self.store
    }

    /// Returns whether there is an index of vectors.
    pub fn has_vectors(&self) -> bool {
        self.vectors.is_some()
    }

    /// Returns the pages whose texts match best, at most `limit`.
    ///
    /// # Errors
    /// When the query is too long, or the store or the index fails.
    pub async fn search(&self, tenant: &str, query: &str, limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        check_query(query)?;
        self.refresh(tenant).await?;
        self.texts.search(tenant, query, limit).await
    }

    /// Returns the pages whose meanings are closest, at most `limit`. Without an index of vectors, there are none.
    ///
    /// # Errors
    /// When the query is too long, the store, the embedder or the index fails, or a vector is not usable.
    pub async fn search_vectors(&self, tenant: &str, query: &str, limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        let mut calls = EmbedderCalls::ignored();
        self.search_vectors_for(tenant, query, limit, &mut calls).await
    }

    /// Like [`search_vectors`](Self::search_vectors). Adds the calls of the embedder, also if the search fails after them.
    pub(super) async fn search_vectors_for(
        &self,
        tenant: &str,
        query: &str,
        limit: usize,
        calls: &mut EmbedderCalls,
    ) -> Result<Vec<IndexHit>, MemoryError> {
        check_query(query)?;
        let Some(vectors) = &self.vectors else {
            return Ok(Vec::new());
        };
        vectors.refresh(&*self.store, tenant, calls).await?;
        // A query without content has no meaning, and models refuse it.
        if query.trim().is_empty() {
            return Ok(Vec::new());
        }
        let embedded = calls.embed(&*vectors.embedder, &[query]).await?;
        let vector = embedded.first().map_or(&[][..], Vec::as_slice);
        check_vector(vector, None)?;
        vectors.index.search(tenant, vector, limit).await
    }

    /// Applies the changes of a tenant to the index of texts, as every search does.
    ///
    /// Cancel safe: what was applied stays applied.
    ///
    /// # Errors
    /// When the store or the index fails.
    pub async fn refresh(&self, tenant: &str) -> Result<(), MemoryError> {
        loop {
            let after = self.texts.position(tenant).await?;
            let changes = self.store.changes(tenant, after, BATCH).await?;
            if changes.is_empty() {
                return Ok(());
            }
            let (has_more, saved) = (changes.has_more, changes.saved.clone());
            let mut to_apply = start(after, &changes);
            to_apply.saved = saved.into_iter().map(|page| (page.id.clone(), page.into())).collect();
            let applied = self.texts.apply(tenant, to_apply).await?;
            if applied && !has_more {
                return Ok(());
            }
        }
    }

    /// Builds the indexes of a tenant again, from nothing. Returns the number of pages.
    ///
    /// # Errors
    /// When the store, the embedder or an index fails. Then the indexes may contain a part of the pages, until the next search.
    pub async fn rebuild(&self, tenant: &str) -> Result<u64, MemoryError> {
        loop {
            let mut reset = IndexChanges::new(self.texts.position(tenant).await?, None);
            reset.is_reset = true;
            if self.texts.apply(tenant, reset).await? {
                break;
            }
        }
        self.refresh(tenant).await?;
        if let Some(vectors) = &self.vectors {
            loop {
                let mut reset = IndexChanges::new(vectors.index.position(tenant).await?, None);
                reset.is_reset = true;
                if vectors.index.apply(tenant, reset).await? {
                    break;
                }
            }
            vectors
                .refresh(&*self.store, tenant, &mut EmbedderCalls::ignored())
                .await?;
        }
        self.texts.count(tenant).await
    }
}

impl Vectors {
    async fn refresh(
        &self,
        store: &dyn KnowledgeStore,
        tenant: &str,
        calls: &mut EmbedderCalls,
    ) -> Result<(), MemoryError> {
        loop {
            let after = self.index.position(tenant).await?;
            let changes = store.changes(tenant, after, BATCH).await?;
            if changes.is_empty() {
                return Ok(());
            }
            let mut to_apply = start(after, &changes);
            for pages in changes.saved.chunks(EMBEDDED) {
                let texts: Vec<String> = pages.iter().map(text).collect();
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let vectors = calls.embed(&*self.embedder, &texts).await?;
                let ids = pages.iter().map(|page| page.id.clone());
                to_apply.saved.extend(ids.zip(vectors));
            }
            let applied = self.index.apply(tenant, to_apply).await?;
            if applied && !changes.has_more {
                return Ok(());
            }
        }
    }
}

/// Returns changes without the pages that were saved.
fn start<T>(after: Option<crate::knowledge::Position>, changes: &Changes) -> IndexChanges<T> {
    let mut start = IndexChanges::new(after, changes.position);
    start.is_reset = changes.is_reset;
    start.removed = changes.deleted.clone();
    start
}

/// Returns the text of a page for an embedder. Models read only the beginning of long texts.
fn text(page: &KnowledgePage) -> String {
    let text = format!("{}\n{}\n{}", page.title, page.summary, page.content);
    text.chars().take(8000).collect()
}
