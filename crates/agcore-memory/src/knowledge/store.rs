//! [`KnowledgeStore`]: the contract of stores of pages.

use std::{fmt::Debug, sync::Arc};

use agcore_chat::Actor;
use async_trait::async_trait;

use super::{
    changes::{Changes, Position},
    filter::PageFilter,
    page::{KnowledgePage, PageSummary, TagCount},
    recall::RecallStatistics,
};
use crate::error::MemoryError;

/// A store of [`KnowledgePage`]s.
///
/// A page is identified by its tenant and its id. Every operation reads and changes pages of the given tenant only: an id of
/// another tenant behaves exactly like one that does not exist.
///
/// Every implementation must pass the suite `agcore_testkit::stores::knowledge`. Common to all:
///
/// - An acknowledged write is visible to every later operation. Each implementation documents which failures it survives.
/// - An operation that fails has changed nothing.
/// - Dropping the future of a read has no effect. Dropping the future of a write leaves open whether it took place, but it
///   takes place completely or not at all.
/// - Every change of a page has a number, which the store assigns in the transaction of the change. An index asks for the
///   [`changes`](Self::changes) since the number that it knows, and so it can never miss one.
#[async_trait]
pub trait KnowledgeStore: Send + Sync + Debug {
    /// Saves pages, or replaces those with their tenants and ids, all or none. The store sets the time of the last save, and
    /// keeps the time of the first one. If an id occurs more than once, the last page counts.
    ///
    /// # Errors
    /// When a page is not acceptable or the storage fails.
    async fn upsert_many(&self, pages: Vec<KnowledgePage>) -> Result<(), MemoryError>;

    /// Saves a page, or replaces the page with its tenant and id.
    ///
    /// # Errors
    /// When the page is not acceptable or the storage fails.
    async fn upsert(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        self.upsert_many(vec![page]).await
    }

    /// Saves a new page.
    ///
    /// # Errors
    /// - [`AlreadyExists`](crate::MemoryErrorKind::AlreadyExists) if there is a page with its tenant and id.
    /// - Other errors when the page is not acceptable or the storage fails.
    async fn add(&self, page: KnowledgePage) -> Result<(), MemoryError>;

    /// Replaces a page.
    ///
    /// # Errors
    /// - [`NotFound`](crate::MemoryErrorKind::NotFound) if there is no page with its tenant and id.
    /// - Other errors when the page is not acceptable or the storage fails.
    async fn update(&self, page: KnowledgePage) -> Result<(), MemoryError>;

    /// Saves a page if its [`version`](KnowledgePage::version) in the store is the given one. Version 0 means that the page does
    /// not exist. Returns the new version. The version in the argument page does not matter.
    ///
    /// Of several writers that have read the same version, one succeeds; the others read the page again and merge.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use agcore_chat::SystemClock;
    /// # use agcore_memory::knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore};
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let store = InMemoryKnowledgeStore::new(Arc::new(SystemClock::new()));
    /// let version = store.put_if_version(KnowledgePage::new("a", "A", "one"), 0).await?;
    ///
    /// let mut page = store.get("local", "a").await?.unwrap();
    /// assert_eq!(page.version, version);
    /// page.content.push_str(", two");
    /// store.put_if_version(page.clone(), version).await?;
    ///
    /// // Another writer that has read the first version does not overwrite the second one.
    /// assert!(store.put_if_version(page, version).await.is_err());
    /// # Ok::<(), agcore_memory::MemoryError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// - [`Conflict`](crate::MemoryErrorKind::Conflict) if the page has another version, with both versions.
    /// - Other errors when the page is not acceptable or the storage fails.
    async fn put_if_version(&self, page: KnowledgePage, version: u64) -> Result<u64, MemoryError>;

    /// Returns a page, or `None` if there is none with this id.
    ///
    /// # Errors
    /// When the storage fails.
    async fn get(&self, tenant: &str, id: &str) -> Result<Option<KnowledgePage>, MemoryError>;

    /// Returns pages in the order of their ids in the argument, without those that do not exist.
    ///
    /// # Errors
    /// When the storage fails.
    async fn get_many(&self, tenant: &str, ids: &[String]) -> Result<Vec<KnowledgePage>, MemoryError>;

    /// Deletes a page. Returns whether it existed. References of other pages to it are kept.
    ///
    /// # Errors
    /// When the storage fails.
    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError>;

    /// Returns the entries of the index that a filter selects, ordered by time of creation, then by id.
    ///
    /// # Errors
    /// When the filter is not acceptable or the storage fails.
    async fn list(&self, filter: &PageFilter) -> Result<Vec<PageSummary>, MemoryError>;

    /// Returns the number of pages that a filter selects, without regard to its offset and limit.
    ///
    /// # Errors
    /// When the filter is not acceptable or the storage fails.
    async fn count(&self, filter: &PageFilter) -> Result<u64, MemoryError>;

    /// Returns the tags that begin with a prefix, those of most pages first, then in the order of their bytes.
    ///
    /// # Errors
    /// When the storage fails.
    async fn tags(&self, tenant: &str, prefix: &str, limit: u64) -> Result<Vec<TagCount>, MemoryError>;

    /// Returns the ids of the pages that refer to a page, in the order of their bytes.
    ///
    /// # Errors
    /// When the storage fails.
    async fn backlinks(&self, tenant: &str, id: &str) -> Result<Vec<String>, MemoryError>;

    /// Returns the number of pages that refer to each of these pages, in the order of the argument.
    ///
    /// # Errors
    /// When the storage fails.
    async fn count_backlinks(&self, tenant: &str, ids: &[String]) -> Result<Vec<u64>, MemoryError>;

    /// Erases all pages of a user, in all lines of business, so that nothing of them is left in the storage. Returns their
    /// number.
    ///
    /// # Errors
    /// When the storage fails.
    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError>;

    /// Returns changes after a position, at most `limit` of them and at least one if there is any. With `None`, or with a
    /// position that the store does not know, they lead from an empty index to the current state.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use agcore_chat::SystemClock;
    /// # use agcore_memory::knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore};
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let store = InMemoryKnowledgeStore::new(Arc::new(SystemClock::new()));
    /// store.add(KnowledgePage::new("a", "A", "")).await?;
    /// let first = store.changes("local", None, 100).await?;
    /// assert_eq!(first.saved[0].id, "a");
    ///
    /// store.delete("local", "a").await?;
    /// let second = store.changes("local", first.position, 100).await?;
    /// assert_eq!(second.deleted, ["a"]);
    /// # Ok::<(), agcore_memory::MemoryError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// When the storage fails.
    async fn changes(&self, tenant: &str, since: Option<Position>, limit: u64) -> Result<Changes, MemoryError>;

    /// Records that a search returned pages, each with a score from 0 to 1.
    ///
    /// # Errors
    /// When the storage fails. It is not an error if a page does not exist any more.
    async fn record_recalls(&self, tenant: &str, recalls: &[(String, f64)]) -> Result<(), MemoryError>;

    /// Returns the statistics of the pages that were recalled most often, then in the order of their ids.
    ///
    /// # Errors
    /// When the storage fails.
    async fn recall_statistics(&self, tenant: &str, limit: u64) -> Result<Vec<RecallStatistics>, MemoryError>;
}

#[async_trait]
impl<S: KnowledgeStore + ?Sized> KnowledgeStore for Arc<S> {
    async fn upsert_many(&self, pages: Vec<KnowledgePage>) -> Result<(), MemoryError> {
        (**self).upsert_many(pages).await
    }

    async fn upsert(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        (**self).upsert(page).await
    }

    async fn add(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        (**self).add(page).await
    }

    async fn update(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        (**self).update(page).await
    }

    async fn put_if_version(&self, page: KnowledgePage, version: u64) -> Result<u64, MemoryError> {
        (**self).put_if_version(page, version).await
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<KnowledgePage>, MemoryError> {
        (**self).get(tenant, id).await
    }

    async fn get_many(&self, tenant: &str, ids: &[String]) -> Result<Vec<KnowledgePage>, MemoryError> {
        (**self).get_many(tenant, ids).await
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        (**self).delete(tenant, id).await
    }

    async fn list(&self, filter: &PageFilter) -> Result<Vec<PageSummary>, MemoryError> {
        (**self).list(filter).await
    }

    async fn count(&self, filter: &PageFilter) -> Result<u64, MemoryError> {
        (**self).count(filter).await
    }

    async fn tags(&self, tenant: &str, prefix: &str, limit: u64) -> Result<Vec<TagCount>, MemoryError> {
        (**self).tags(tenant, prefix, limit).await
    }

    async fn backlinks(&self, tenant: &str, id: &str) -> Result<Vec<String>, MemoryError> {
        (**self).backlinks(tenant, id).await
    }

    async fn count_backlinks(&self, tenant: &str, ids: &[String]) -> Result<Vec<u64>, MemoryError> {
        (**self).count_backlinks(tenant, ids).await
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        (**self).erase(owner).await
    }

    async fn changes(&self, tenant: &str, since: Option<Position>, limit: u64) -> Result<Changes, MemoryError> {
        (**self).changes(tenant, since, limit).await
    }

    async fn record_recalls(&self, tenant: &str, recalls: &[(String, f64)]) -> Result<(), MemoryError> {
        (**self).record_recalls(tenant, recalls).await
    }

    async fn recall_statistics(&self, tenant: &str, limit: u64) -> Result<Vec<RecallStatistics>, MemoryError> {
        (**self).recall_statistics(tenant, limit).await
    }
}
