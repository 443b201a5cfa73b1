//! Stores without secrets.

use std::sync::Arc;

use agcore_chat::redact::KeyRedactor;
use agcore_memory::{
    Clock, EvictionConfig, InMemoryStore, MemoryFilter, MemoryItem, MemoryStore, Redacted,
    knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore, PageFilter, SourceStore},
};
use agcore_testkit::{
    clock::ManualClock,
    stores::{KnowledgeStoreSubject, MemoryStoreSubject, SourceStoreSubject, StoreSubject},
};
use async_trait::async_trait;
use serde_json::json;

const KEY: &str = "sk-0123456789abcdef";

/// A wrapped store must do everything that every store does.
struct Wrapped;

impl StoreSubject for Wrapped {}

#[async_trait]
impl MemoryStoreSubject for Wrapped {
    async fn memory_store(&self, clock: Arc<dyn Clock>, eviction: EvictionConfig) -> Arc<dyn MemoryStore> {
        let store = InMemoryStore::new(clock).with_eviction(eviction);
        Arc::new(Redacted::new(store, Arc::new(KeyRedactor)))
    }
}

#[async_trait]
impl KnowledgeStoreSubject for Wrapped {
    async fn knowledge_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn KnowledgeStore> {
        Arc::new(Redacted::new(InMemoryKnowledgeStore::new(clock), Arc::new(KeyRedactor)))
    }
}

#[async_trait]
impl SourceStoreSubject for Wrapped {
    async fn source_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn SourceStore> {
        Arc::new(Redacted::new(InMemoryKnowledgeStore::new(clock), Arc::new(KeyRedactor)))
    }
}

mod knowledge_store {
    agcore_testkit::knowledge_store_tests!(super::Wrapped);
}

mod source_store {
    agcore_testkit::source_store_tests!(super::Wrapped);
}

mod memory_store {
    agcore_testkit::memory_store_tests!(super::Wrapped);
}

#[tokio::test]
async fn items_are_stored_without_secrets_and_found_by_them() {
    let clock = Arc::new(ManualClock::new());
    let store = Redacted::new(InMemoryStore::new(clock), Arc::new(KeyRedactor));
    let item = MemoryItem::new("notes/1", format!("The key is {KEY}."))
        .with_source(format!("message {KEY}"))
        .with_metadata("key", KEY)
        .with_metadata(KEY, json!([{"deep": [KEY, 7]}]));
    store.save(item.clone()).await.unwrap();
    let mut second = item;
    second.id = "notes/2".to_owned();
    store.save_many(vec![second]).await.unwrap();
    for id in ["notes/1", "notes/2"] {
        let item = store.inner().get("local", id).await.unwrap().unwrap();
        assert_eq!(item.content, "The key is [redacted].");
        assert_eq!(item.source.as_deref(), Some("message [redacted]"));
        let expected = json!({"key": "[redacted]", "[redacted]": [{"deep": ["[redacted]", 7]}]});
        assert_eq!(serde_json::Value::Object(item.metadata), expected);
    }
    let filter = MemoryFilter::new("local").with_metadata("key", KEY);
    assert_eq!(store.count(&filter).await.unwrap(), 2);
    assert_eq!(store.list(&filter).await.unwrap().len(), 2);
    assert_eq!(store.inner().count(&filter).await.unwrap(), 0);
}

#[tokio::test]
async fn secrets_do_not_reach_pages() {
    let clock = Arc::new(ManualClock::new());
    let inner = Arc::new(InMemoryKnowledgeStore::new(clock));
    let store = Redacted::new(Arc::clone(&inner), Arc::new(KeyRedactor));
    let page = || {
        KnowledgePage::new("a", KEY, format!("the key is {KEY}"))
            .with_summary(KEY)
            .with_tag(KEY)
    };
    store.add(page()).await.unwrap();
    store.update(page()).await.unwrap();
    store
        .upsert_many(vec![page(), KnowledgePage::new("b", "plain", "text").with_tag("tea")])
        .await
        .unwrap();
    let stored = inner.get("local", "a").await.unwrap().unwrap();
    assert_eq!(stored.content, "the key is [redacted]");
    assert!(!format!("{stored:?}").contains(KEY), "{stored:?}");
    assert_eq!(inner.get("local", "b").await.unwrap().unwrap().title, "plain");
    // A tag that was redacted is found by the one that was given.
    let filter = PageFilter::new("local").with_tag(KEY);
    assert_eq!(store.list(&filter).await.unwrap().len(), 1);
    assert_eq!(store.count(&filter).await.unwrap(), 1);
}
