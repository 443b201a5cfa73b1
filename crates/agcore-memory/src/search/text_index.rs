//! [`TextIndex`]: the contract of indexes of texts.

use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;

use crate::{
    error::MemoryError,
    knowledge::{KnowledgePage, Position},
};

/// The maximum length of a query, in bytes.
pub const MAX_QUERY_BYTES: usize = 64 << 10;

/// A text to index.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TextDocument {
    /// The id.
    pub id: String,
    /// The title.
    pub title: String,
    /// The summary.
    pub summary: String,
    /// The text.
    pub content: String,
}

impl TextDocument {
    /// Creates a document.
    pub fn new(id: impl Into<String>, title: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            summary: String::new(),
            content: content.into(),
        }
    }
}

impl From<KnowledgePage> for TextDocument {
    fn from(page: KnowledgePage) -> Self {
        let mut summary = page.summary;
        for tag in &page.tags {
            summary.push('\n');
            summary.push_str(tag);
        }
        Self {
            id: page.id,
            title: page.title,
            summary,
            content: page.content,
        }
    }
}

/// Changes of an index, which take place together.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct IndexChanges<T> {
    /// The position that the index must have before.
    pub after: Option<Position>,
    /// Whether to remove everything before.
    pub is_reset: bool,
    /// Entries to add, or to replace if their ids exist.
    pub saved: Vec<(String, T)>,
    /// Ids to remove. Those that do not exist are ignored.
    pub removed: Vec<String>,
    /// The position that the index has afterwards.
    pub position: Option<Position>,
}

impl<T> IndexChanges<T> {
    /// Creates changes that lead from one position to another.
    pub fn new(after: Option<Position>, position: Option<Position>) -> Self {
        Self {
            after,
            is_reset: false,
            saved: Vec::new(),
            removed: Vec::new(),
            position,
        }
    }

    /// Adds an entry.
    #[must_use]
    pub fn with_saved(mut self, id: impl Into<String>, entry: T) -> Self {
        self.saved.push((id.into(), entry));
        self
    }
}

/// A document or vector that a search found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct IndexHit {
    /// The id.
    pub id: String,
    /// The score, above 0 for texts. Scores of different queries or indexes cannot be compared.
    pub score: f64,
}

impl IndexHit {
    /// Creates a hit.
    pub fn new(id: impl Into<String>, score: f64) -> Self {
        Self { id: id.into(), score }
    }
}

/// An index of texts, which finds those that match a query.
///
/// An index follows a store of knowledge: it knows the [`Position`] up to which it contains the changes of a tenant.
#[async_trait]
pub trait TextIndex: Send + Sync + Debug {
    /// Returns the position of a tenant; `None` if the index has none, or if it cannot be used and must be built again.
    ///
    /// # Errors
    /// When the index cannot be read.
    async fn position(&self, tenant: &str) -> Result<Option<Position>, MemoryError>;

    /// Applies changes, all or none. Returns whether they were applied: they are not if the index has another position than
    /// they expect, because another caller has applied changes meanwhile.
    ///
    /// # Errors
    /// When the index cannot be written.
    async fn apply(&self, tenant: &str, changes: IndexChanges<TextDocument>) -> Result<bool, MemoryError>;

    /// Returns the documents that match best, at most `limit`. The query is plain text; no character is an operator.
    ///
    /// # Errors
    /// - [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if the query has more than [`MAX_QUERY_BYTES`].
    /// - Other errors when the index cannot be read.
    async fn search(&self, tenant: &str, query: &str, limit: usize) -> Result<Vec<IndexHit>, MemoryError>;

    /// Returns the number of documents.
    ///
    /// # Errors
    /// When the index cannot be read.
    async fn count(&self, tenant: &str) -> Result<u64, MemoryError>;
}

/// Checks that a query is not too long.
///
/// # Errors
/// [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if it has more than [`MAX_QUERY_BYTES`].
pub fn check_query(query: &str) -> Result<(), MemoryError> {
    if query.len() > MAX_QUERY_BYTES {
        return Err(MemoryError::invalid(format!(
            "the query has {} bytes; at most {MAX_QUERY_BYTES} are allowed: search for a part of it",
            query.len()
        )));
    }
    Ok(())
}

#[async_trait]
impl<I: TextIndex + ?Sized> TextIndex for Arc<I> {
    async fn position(&self, tenant: &str) -> Result<Option<Position>, MemoryError> {
        (**self).position(tenant).await
    }

    async fn apply(&self, tenant: &str, changes: IndexChanges<TextDocument>) -> Result<bool, MemoryError> {
        (**self).apply(tenant, changes).await
    }

    async fn search(&self, tenant: &str, query: &str, limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        (**self).search(tenant, query, limit).await
    }

    async fn count(&self, tenant: &str) -> Result<u64, MemoryError> {
        (**self).count(tenant).await
    }
}
