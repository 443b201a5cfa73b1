//! The calls of memory stores.

use agcore_memory::{Actor, MemoryError, MemoryFilter, MemoryItem, MemoryStore};
use async_trait::async_trait;

use super::FaultyStore;

#[async_trait]
impl<S: MemoryStore> MemoryStore for FaultyStore<S> {
    async fn save(&self, item: MemoryItem) -> Result<(), MemoryError> {
        self.call("save", self.inner.save(item)).await
    }

    async fn save_many(&self, items: Vec<MemoryItem>) -> Result<(), MemoryError> {
        self.call("save_many", self.inner.save_many(items)).await
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<MemoryItem>, MemoryError> {
        self.call("get", self.inner.get(tenant, id)).await
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        self.call("delete", self.inner.delete(tenant, id)).await
    }

    async fn delete_prefix(&self, tenant: &str, prefix: &str) -> Result<u64, MemoryError> {
        self.call("delete_prefix", self.inner.delete_prefix(tenant, prefix))
            .await
    }

    async fn list(&self, filter: &MemoryFilter) -> Result<Vec<MemoryItem>, MemoryError> {
        self.call("list", self.inner.list(filter)).await
    }

    async fn count(&self, filter: &MemoryFilter) -> Result<u64, MemoryError> {
        self.call("count", self.inner.count(filter)).await
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        self.call("erase", self.inner.erase(owner)).await
    }

    async fn record_recall(&self, tenant: &str, id: &str, score: f64) -> Result<(), MemoryError> {
        self.call("record_recall", self.inner.record_recall(tenant, id, score))
            .await
    }

    async fn evict(&self) -> Result<u64, MemoryError> {
        self.call("evict", self.inner.evict()).await
    }
}
