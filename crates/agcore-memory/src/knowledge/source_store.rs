//! [`SourceStore`]: the contract of stores of pages that were made from files.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    page::KnowledgePage,
    source::{KnowledgeSource, SourceChanges},
    store::KnowledgeStore,
};
use crate::error::MemoryError;

/// A store of pages that were made from files: it keeps a record of each file, and changes it together with its pages.
///
/// Every implementation must pass the suite `agcore_testkit::stores::sources`. Common to all, in addition to what
/// [`KnowledgeStore`] requires:
///
/// - The record of a source and all of its pages change together, or not at all. A process that dies leaves no source with a part
///   of its pages.
/// - [`erase`](KnowledgeStore::erase) erases the sources of a user, too.
///
/// ```
/// # use std::sync::Arc;
/// # use agcore_chat::{SourcePosition, SystemClock};
/// # use agcore_memory::knowledge::{
/// #     InMemoryKnowledgeStore, KnowledgePage, KnowledgeSource, KnowledgeStore, PageSource, SourceStore,
/// # };
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = InMemoryKnowledgeStore::new(Arc::new(SystemClock::new()));
/// let place = PageSource::new("garden.pdf", SourcePosition::new().with_page(2));
/// let page = KnowledgePage::new("garden.pdf/0001", "Tomatoes", "Water them in the morning.").with_source(place);
/// store.put_source(KnowledgeSource::new("garden.pdf", "5ba7"), vec![page]).await?;
///
/// let page = store.get("local", "garden.pdf/0001").await?.unwrap();
/// assert_eq!(page.citation().to_string(), "garden.pdf, page 2");
/// assert_eq!(store.source("local", "garden.pdf").await?.unwrap().pages, 1);
/// assert_eq!(store.delete_source("local", "garden.pdf").await?, Some(1));
/// # Ok::<(), agcore_memory::MemoryError>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait SourceStore: KnowledgeStore {
    /// Saves a source with its pages, and deletes all other pages of the source. Pages that stay the same are not saved again, so
    /// that they keep their versions. A page without a source that has the id of one of the pages is replaced. A source with a
    /// [`problem`](KnowledgeSource::problem) is saved without pages, and keeps those that it has.
    ///
    /// # Errors
    /// - [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if the source or a page is not acceptable, see
    ///   [`SourceUpdate::new`](super::SourceUpdate::new).
    /// - [`AlreadyExists`](crate::MemoryErrorKind::AlreadyExists) if a page with the same id belongs to another source.
    /// - Other errors when the storage fails.
    async fn put_source(
        &self,
        source: KnowledgeSource,
        pages: Vec<KnowledgePage>,
    ) -> Result<SourceChanges, MemoryError>;

    /// Returns a source, or `None` if there is none with this id.
    ///
    /// # Errors
    /// When the storage fails.
    async fn source(&self, tenant: &str, id: &str) -> Result<Option<KnowledgeSource>, MemoryError>;

    /// Returns sources in the order of the bytes of their ids, at most `limit`, of those whose ids begin with `prefix` and are
    /// greater than `after`.
    ///
    /// # Errors
    /// When the storage fails.
    async fn sources(
        &self,
        tenant: &str,
        prefix: &str,
        after: Option<&str>,
        limit: u64,
    ) -> Result<Vec<KnowledgeSource>, MemoryError>;

    /// Deletes a source with all of its pages. Returns the number of pages, or `None` if there is no such source.
    ///
    /// # Errors
    /// When the storage fails.
    async fn delete_source(&self, tenant: &str, id: &str) -> Result<Option<u64>, MemoryError>;
}

#[async_trait]
impl<S: SourceStore + ?Sized> SourceStore for Arc<S> {
    async fn put_source(
        &self,
        source: KnowledgeSource,
        pages: Vec<KnowledgePage>,
    ) -> Result<SourceChanges, MemoryError> {
        (**self).put_source(source, pages).await
    }

    async fn source(&self, tenant: &str, id: &str) -> Result<Option<KnowledgeSource>, MemoryError> {
        (**self).source(tenant, id).await
    }

    async fn sources(
        &self,
        tenant: &str,
        prefix: &str,
        after: Option<&str>,
        limit: u64,
    ) -> Result<Vec<KnowledgeSource>, MemoryError> {
        (**self).sources(tenant, prefix, after, limit).await
    }

    async fn delete_source(&self, tenant: &str, id: &str) -> Result<Option<u64>, MemoryError> {
        (**self).delete_source(tenant, id).await
    }
}
