//! [`Redacted`]: a store that removes secrets from everything before it is stored.

#[cfg(feature = "knowledge")]
mod knowledge;
mod session;

use std::{fmt, sync::Arc};

use agcore_chat::{
    Actor,
    redact::{Redactor, redact_json, redact_members, redact_text},
};
use async_trait::async_trait;
use serde_json::Value;

use crate::{
    error::MemoryError,
    filter::MemoryFilter,
    item::MemoryItem,
    journal::{Entry, Journal, Record},
    store::MemoryStore,
};

/// A store that removes secrets from everything before it reaches the store inside, whatever that is.
///
/// Implements the contracts that the inner store implements.
///
/// | contract | redacted |
/// |---|---|
/// | [`MemoryStore`] | content, source, names and values of the metadata |
/// | [`Journal`] | the data of records |
/// | [`SessionStore`](crate::session::SessionStore) | titles, metadata, contents of messages, data of events, inputs and outcomes of runs, arguments and results of calls, questions and answers, the data of records |
/// | [`CheckpointStore`](crate::CheckpointStore) | the data |
/// | `KnowledgeStore` (feature `knowledge`) | titles, summaries, contents and tags of pages |
///
/// In JSON, strings and the names of members are redacted at any depth. If two names of an object become the same, the last
/// member is kept. Ids, owners, kinds of records and events, names of tools and streams are not changed: they must not contain
/// secrets.
///
/// Filters by metadata are redacted in the same way, so that a value that was redacted when it was stored is found by the value
/// that was given.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{SystemClock, redact::KeyRedactor};
/// use agcore_memory::{InMemoryStore, MemoryItem, MemoryStore, Redacted};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = InMemoryStore::new(Arc::new(SystemClock::new()));
/// let store = Redacted::new(store, Arc::new(KeyRedactor));
/// store.save(MemoryItem::new("notes/key", "The key is sk-0123456789abcdef.")).await?;
/// assert_eq!(store.get("local", "notes/key").await?.unwrap().content, "The key is [redacted].");
/// # Ok::<(), agcore_memory::MemoryError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Redacted<S> {
    inner: S,
    redactor: Arc<dyn Redactor>,
}

impl<S> Redacted<S> {
    /// Wraps a store.
    pub fn new(inner: S, redactor: Arc<dyn Redactor>) -> Self {
        Self { inner, redactor }
    }

    /// Returns the store inside, which stores what it gets.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn text(&self, text: &mut String) {
        redact_text(&*self.redactor, text);
    }

    fn json(&self, value: &mut Value) {
        redact_json(&*self.redactor, value);
    }

    fn records(&self, records: &mut [Record]) {
        records.iter_mut().for_each(|record| self.json(&mut record.data));
    }

    fn item(&self, item: &mut MemoryItem) {
        self.text(&mut item.content);
        item.source.iter_mut().for_each(|source| self.text(source));
        redact_members(&*self.redactor, &mut item.metadata);
    }

    fn filter(&self, filter: &MemoryFilter) -> MemoryFilter {
        let mut filter = filter.clone();
        for (name, value) in &mut filter.metadata {
            self.text(name);
            self.json(value);
        }
        filter
    }
}

impl<S: fmt::Debug> fmt::Debug for Redacted<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redacted")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl<S: MemoryStore> MemoryStore for Redacted<S> {
    async fn save_many(&self, mut items: Vec<MemoryItem>) -> Result<(), MemoryError> {
        items.iter_mut().for_each(|item| self.item(item));
        self.inner.save_many(items).await
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<MemoryItem>, MemoryError> {
        self.inner.get(tenant, id).await
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        self.inner.delete(tenant, id).await
    }

    async fn delete_prefix(&self, tenant: &str, prefix: &str) -> Result<u64, MemoryError> {
        self.inner.delete_prefix(tenant, prefix).await
    }

    async fn list(&self, filter: &MemoryFilter) -> Result<Vec<MemoryItem>, MemoryError> {
        self.inner.list(&self.filter(filter)).await
    }

    async fn count(&self, filter: &MemoryFilter) -> Result<u64, MemoryError> {
        self.inner.count(&self.filter(filter)).await
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        self.inner.erase(owner).await
    }

    async fn record_recall(&self, tenant: &str, id: &str, score: f64) -> Result<(), MemoryError> {
        self.inner.record_recall(tenant, id, score).await
    }

    async fn evict(&self) -> Result<u64, MemoryError> {
        self.inner.evict().await
    }
}

#[async_trait]
impl<S: Journal> Journal for Redacted<S> {
    async fn append(&self, stream: &str, expected: u64, mut records: Vec<Record>) -> Result<u64, MemoryError> {
        self.records(&mut records);
        self.inner.append(stream, expected, records).await
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, MemoryError> {
        self.inner.read(stream, from).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), MemoryError> {
        self.inner.trim(stream, before).await
    }

    async fn delete(&self, stream: &str) -> Result<bool, MemoryError> {
        self.inner.delete(stream).await
    }
}
