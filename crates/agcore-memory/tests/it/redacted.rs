//! Stores without secrets.

use std::sync::Arc;

use agcore_chat::{Actor, Message, redact::KeyRedactor};
use agcore_memory::{
    CheckpointStore, Clock, ConversationMemory, EvictionConfig, InMemoryJournal, InMemoryStore, Journal, MemoryFilter,
    MemoryItem, MemoryStore, NewCheckpoint, Record, Redacted, RunKey, Timestamp,
    knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore, PageFilter},
    session::{
        ApprovalChange, ApprovalFilter, Commit, InMemorySessionStore, NewApproval, NewSession, RunChange, RunStatus,
        SessionStore,
    },
};
use agcore_testkit::{
    clock::ManualClock,
    stores::{
        CheckpointStoreSubject, JournalSubject, KnowledgeStoreSubject, MemoryStoreSubject, SessionStoreSubject,
        StoreSubject,
    },
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
impl JournalSubject for Wrapped {
    async fn journal(&self) -> Arc<dyn Journal> {
        Arc::new(Redacted::new(InMemoryJournal::new(), Arc::new(KeyRedactor)))
    }
}

#[async_trait]
impl SessionStoreSubject for Wrapped {
    async fn session_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn SessionStore> {
        Arc::new(Redacted::new(InMemorySessionStore::new(clock), Arc::new(KeyRedactor)))
    }
}

#[async_trait]
impl CheckpointStoreSubject for Wrapped {
    async fn checkpoint_store(&self, clock: Arc<dyn Clock>) -> (Arc<dyn SessionStore>, Arc<dyn CheckpointStore>) {
        let store = Redacted::new(InMemorySessionStore::new(clock), Arc::new(KeyRedactor));
        let store = Arc::new(store);
        (Arc::clone(&store) as _, store)
    }
}

#[async_trait]
impl KnowledgeStoreSubject for Wrapped {
    async fn knowledge_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn KnowledgeStore> {
        Arc::new(Redacted::new(InMemoryKnowledgeStore::new(clock), Arc::new(KeyRedactor)))
    }
}

mod knowledge_store {
    agcore_testkit::knowledge_store_tests!(super::Wrapped);
}

mod memory_store {
    agcore_testkit::memory_store_tests!(super::Wrapped);
}

mod journal {
    agcore_testkit::journal_tests!(super::Wrapped);
}

mod session_store {
    agcore_testkit::session_store_tests!(super::Wrapped);
}

mod checkpoints {
    agcore_testkit::checkpoint_tests!(super::Wrapped);
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
async fn records_are_stored_without_secrets() {
    let journal = Redacted::new(InMemoryJournal::new(), Arc::new(KeyRedactor));
    let record = Record::new("kind", 1, Timestamp::default(), json!({"a": [KEY], KEY: 1}));
    journal.append("s", 0, vec![record]).await.unwrap();
    let stored = journal.inner().read("s", 0).await.unwrap();
    assert_eq!(stored[0].record.data, json!({"a": ["[redacted]"], "[redacted]": 1}));
    assert_eq!(journal.read("s", 0).await.unwrap(), stored);
    assert!(!format!("{journal:?}").contains(KEY));
}

#[tokio::test]
async fn a_conversation_is_restored_without_secrets() {
    let journal = Arc::new(Redacted::new(InMemoryJournal::new(), Arc::new(KeyRedactor)));
    let open = async || {
        let clock = Arc::new(ManualClock::new());
        ConversationMemory::open(journal.clone(), clock, &Actor::local(), "c")
            .await
            .unwrap()
    };
    let mut memory = open().await;
    memory.push(Message::user(format!("My key is {KEY}"))).await.unwrap();
    assert!(memory.messages()[0].text().contains(KEY), "the model still needs it");
    assert_eq!(open().await.messages()[0].text(), "My key is [redacted]");
}

#[tokio::test]
async fn sessions_are_stored_without_secrets() {
    let store = InMemorySessionStore::new(Arc::new(ManualClock::new()));
    let store = Redacted::new(store, Arc::new(KeyRedactor));
    let session = NewSession::new("s").with_title(KEY).with_metadata(KEY, json!([KEY]));
    let session = store.create(session).await.unwrap();
    let commit = Commit::new()
        .with_run(RunChange::new("r", RunStatus::Running))
        .with_approval(ApprovalChange::Ask(NewApproval::new("q", "r", json!(KEY))));
    store.commit("local", "s", session.end, commit).await.unwrap();
    for _ in 0..2 {
        // The same answer again changes nothing, although it is not what is stored.
        let by = Actor::local();
        store.answer("local", "s", "q", json!({"key": KEY}), &by).await.unwrap();
    }
    store.rename("local", "s", Some(&format!("title {KEY}"))).await.unwrap();
    let run = RunKey::new("local", "s", "r");
    let checkpoint = NewCheckpoint::snapshot("step", json!({"key": KEY}));
    store.save_checkpoint(run, 0, checkpoint).await.unwrap();

    let inner = store.inner();
    let session = inner.get_session("local", "s").await.unwrap().unwrap();
    let approvals = inner.approvals(&ApprovalFilter::new("local")).await.unwrap();
    let checkpoints = inner.checkpoints(run, 0).await.unwrap();
    assert_eq!(session.title.as_deref(), Some("title [redacted]"));
    let stored = format!("{session:?} {approvals:?} {checkpoints:?}");
    assert_eq!(
        (stored.matches(KEY).count(), stored.matches("[redacted]").count()),
        (0, 6),
        "{stored}"
    );
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
