//! [`MemoryStore`]: the contract of stores of memory items.

use std::{fmt::Debug, sync::Arc};

use agcore_chat::Actor;
use async_trait::async_trait;

use crate::{
    error::{MemoryError, MemoryErrorKind},
    filter::MemoryFilter,
    item::MemoryItem,
};

/// A store of [`MemoryItem`]s.
///
/// An item is identified by its tenant and its id. Every operation reads and changes items of the given tenant only: an id of
/// another tenant behaves exactly like one that does not exist.
///
/// Every implementation must pass the suite `agcore_testkit::stores::memory_store`. Common to all:
///
/// - An acknowledged write is visible to every later operation. Each implementation documents which failures it survives.
/// - An operation that fails has changed nothing.
/// - Dropping the future of a read has no effect. Dropping the future of a write leaves open whether it took place, but it
///   takes place completely or not at all.
/// - Items that have expired ([`EvictionConfig`](crate::EvictionConfig)) are never returned or counted.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::SystemClock;
/// use agcore_memory::{InMemoryStore, MemoryFilter, MemoryItem, MemoryStore};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = InMemoryStore::new(Arc::new(SystemClock::new()));
/// store.save(MemoryItem::new("notes/tea", "Ann likes green tea.")).await?;
/// store.save(MemoryItem::new("notes/tea", "Ann likes black tea.")).await?;
///
/// let notes = store.list(&MemoryFilter::new("local").with_prefix("notes/")).await?;
/// assert_eq!(notes.len(), 1);
/// assert_eq!(notes[0].content, "Ann likes black tea.");
/// # Ok::<(), agcore_memory::MemoryError>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait MemoryStore: Send + Sync + Debug {
    /// Saves an item, or replaces the item with its tenant and id. The store sets the time of the last save, and keeps the
    /// time of the first one.
    ///
    /// # Errors
    /// When the item is not acceptable or the storage fails.
    async fn save(&self, item: MemoryItem) -> Result<(), MemoryError> {
        self.save_many(vec![item]).await
    }

    /// Saves several items, all or none. If an id occurs more than once, the last item counts.
    ///
    /// # Errors
    /// When an item is not acceptable or the storage fails.
    async fn save_many(&self, items: Vec<MemoryItem>) -> Result<(), MemoryError>;

    /// Saves an item that supersedes another one of its tenant: a fact that has changed. Both stay in the store. The old one
    /// becomes valid until the time from which on the new one is, and both are saved together.
    ///
    /// If someone else saves the old item at the same time, the last one wins, as with [`save`](Self::save).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use agcore_chat::SystemClock;
    /// use agcore_memory::{InMemoryStore, MemoryFilter, MemoryItem, MemoryStore, Timestamp};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let store = InMemoryStore::new(Arc::new(SystemClock::new()));
    /// let (may, june) = (Timestamp::from_millis(1_777_600_000_000), Timestamp::from_millis(1_780_300_000_000));
    /// store.save(MemoryItem::new("home/1", "Ann lives in Ulm.")).await?;
    /// store.supersede("home/1", MemoryItem::new("home/2", "Ann lives in Rome.").with_validity(Some(june), None)).await?;
    ///
    /// let in_may = store.list(&MemoryFilter::new("local").with_valid_at(may)).await?;
    /// assert_eq!(in_may[0].content, "Ann lives in Ulm.");
    /// # Ok::<(), agcore_memory::MemoryError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// - [`NotFound`](crate::MemoryErrorKind::NotFound) if the old item does not exist.
    /// - [`AlreadyExists`](crate::MemoryErrorKind::AlreadyExists) if there is an item with the id of the new one.
    /// - [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if the new item has no `valid_from`, or is not acceptable.
    /// - [`InvalidState`](crate::MemoryErrorKind::InvalidState) if the old item is not valid at that time, for example because
    ///   it was superseded before.
    /// - Other errors when the storage fails.
    async fn supersede(&self, old: &str, new: MemoryItem) -> Result<(), MemoryError> {
        new.check()?;
        let Some(known) = self.get(new.tenant(), old).await? else {
            return Err(MemoryError::not_found(format!("there is no item `{old}`")));
        };
        let old = known.superseded_by(&new)?;
        if self.get(new.tenant(), &new.id).await?.is_some() {
            return Err(MemoryError::new(
                MemoryErrorKind::AlreadyExists,
                format!("there is an item `{}` already", new.id),
            ));
        }
        self.save_many(vec![old, new]).await
    }

    /// Returns an item, or `None` if there is none with this id.
    ///
    /// # Errors
    /// When the storage fails.
    async fn get(&self, tenant: &str, id: &str) -> Result<Option<MemoryItem>, MemoryError>;

    /// Deletes an item. Returns whether it existed.
    ///
    /// # Errors
    /// When the storage fails.
    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError>;

    /// Deletes all items whose id begins with a prefix. Returns their number. An empty prefix is refused: delete the items of
    /// an owner with [`erase`](Self::erase).
    ///
    /// # Errors
    /// When the prefix is not acceptable or the storage fails.
    async fn delete_prefix(&self, tenant: &str, prefix: &str) -> Result<u64, MemoryError>;

    /// Returns the items that a filter selects, in its order.
    ///
    /// # Errors
    /// When the filter is not acceptable or the storage fails.
    async fn list(&self, filter: &MemoryFilter) -> Result<Vec<MemoryItem>, MemoryError>;

    /// Returns the number of items that a filter selects, without regard to its offset and limit.
    ///
    /// # Errors
    /// When the filter is not acceptable or the storage fails.
    async fn count(&self, filter: &MemoryFilter) -> Result<u64, MemoryError>;

    /// Erases all items of a user, in all lines of business, so that nothing of them is left in the storage. Returns their
    /// number.
    ///
    /// # Errors
    /// When the storage fails.
    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError>;

    /// Records that a search returned an item, with a score from 0 to 1. Items that are recalled are kept longer by
    /// [`EvictionPolicy::RecallValue`](crate::EvictionPolicy::RecallValue). By default, recalls are not recorded.
    ///
    /// # Errors
    /// When the storage fails. It is not an error if the item does not exist any more.
    async fn record_recall(&self, tenant: &str, id: &str, score: f64) -> Result<(), MemoryError> {
        let _ = (tenant, id, score);
        Ok(())
    }

    /// Removes the items that the eviction policies do not keep. Returns their number. Stores also do so by themselves
    /// after a number of writes.
    ///
    /// # Errors
    /// When the storage fails.
    async fn evict(&self) -> Result<u64, MemoryError> {
        Ok(0)
    }
}

#[async_trait]
impl<S: MemoryStore + ?Sized> MemoryStore for Arc<S> {
    async fn save(&self, item: MemoryItem) -> Result<(), MemoryError> {
        (**self).save(item).await
    }

    async fn save_many(&self, items: Vec<MemoryItem>) -> Result<(), MemoryError> {
        (**self).save_many(items).await
    }

    async fn supersede(&self, old: &str, new: MemoryItem) -> Result<(), MemoryError> {
        (**self).supersede(old, new).await
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<MemoryItem>, MemoryError> {
        (**self).get(tenant, id).await
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        (**self).delete(tenant, id).await
    }

    async fn delete_prefix(&self, tenant: &str, prefix: &str) -> Result<u64, MemoryError> {
        (**self).delete_prefix(tenant, prefix).await
    }

    async fn list(&self, filter: &MemoryFilter) -> Result<Vec<MemoryItem>, MemoryError> {
        (**self).list(filter).await
    }

    async fn count(&self, filter: &MemoryFilter) -> Result<u64, MemoryError> {
        (**self).count(filter).await
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        (**self).erase(owner).await
    }

    async fn record_recall(&self, tenant: &str, id: &str, score: f64) -> Result<(), MemoryError> {
        (**self).record_recall(tenant, id, score).await
    }

    async fn evict(&self) -> Result<u64, MemoryError> {
        (**self).evict().await
    }
}
