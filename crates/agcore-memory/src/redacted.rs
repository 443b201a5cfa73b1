//! Memory items and pages without secrets.
//!
//! | contract | redacted |
//! |---|---|
//! | [`MemoryStore`] | content, source, names and values of the metadata |
//! | `KnowledgeStore` (feature `knowledge`) | titles, summaries, contents and tags of pages |
//!
//! In JSON, strings and the names of members are redacted at any depth. If two names of an object become the same, the last member
//! is kept. Ids and owners are not changed: they must not contain secrets.
//!
//! Filters by metadata are redacted in the same way, so that a value that was redacted when it was stored is found by the value
//! that was given.

#[cfg(feature = "knowledge")]
mod knowledge;

use agcore_chat::{
    Actor,
    redact::{Redacted, Redactor, redact_json, redact_members, redact_text},
};
use async_trait::async_trait;

use crate::{error::MemoryError, filter::MemoryFilter, item::MemoryItem, store::MemoryStore};

#[async_trait]
impl<S: MemoryStore> MemoryStore for Redacted<S> {
    async fn save_many(&self, mut items: Vec<MemoryItem>) -> Result<(), MemoryError> {
        items.iter_mut().for_each(|item| redact_item(self.redactor(), item));
        self.inner().save_many(items).await
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<MemoryItem>, MemoryError> {
        self.inner().get(tenant, id).await
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        self.inner().delete(tenant, id).await
    }

    async fn delete_prefix(&self, tenant: &str, prefix: &str) -> Result<u64, MemoryError> {
        self.inner().delete_prefix(tenant, prefix).await
    }

    async fn list(&self, filter: &MemoryFilter) -> Result<Vec<MemoryItem>, MemoryError> {
        self.inner().list(&redacted_filter(self.redactor(), filter)).await
    }

    async fn count(&self, filter: &MemoryFilter) -> Result<u64, MemoryError> {
        self.inner().count(&redacted_filter(self.redactor(), filter)).await
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        self.inner().erase(owner).await
    }

    async fn record_recall(&self, tenant: &str, id: &str, score: f64) -> Result<(), MemoryError> {
        self.inner().record_recall(tenant, id, score).await
    }

    async fn evict(&self) -> Result<u64, MemoryError> {
        self.inner().evict().await
    }
}

fn redact_item(redactor: &dyn Redactor, item: &mut MemoryItem) {
    redact_text(redactor, &mut item.content);
    item.source.iter_mut().for_each(|source| redact_text(redactor, source));
    redact_members(redactor, &mut item.metadata);
}

fn redacted_filter(redactor: &dyn Redactor, filter: &MemoryFilter) -> MemoryFilter {
    let mut filter = filter.clone();
    for (name, value) in &mut filter.metadata {
        redact_text(redactor, name);
        redact_json(redactor, value);
    }
    filter
}
