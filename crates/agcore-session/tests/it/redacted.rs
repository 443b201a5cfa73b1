//! Stores without secrets.

use std::sync::Arc;

use agcore_chat::{Actor, Message, redact::KeyRedactor};
use agcore_session::{
    ApprovalChange, ApprovalFilter, CheckpointStore, Clock, Commit, ConversationMemory, InMemoryJournal,
    InMemorySessionStore, Journal, NewApproval, NewCheckpoint, NewSession, Record, Redacted, RunChange, RunKey,
    RunStatus, SessionReader, SessionStore, SessionWriter, Timestamp,
};
use agcore_testkit::{
    clock::ManualClock,
    stores::{CheckpointStoreSubject, JournalSubject, SessionStoreSubject, StoreSubject},
};
use async_trait::async_trait;
use serde_json::json;

const KEY: &str = "sk-0123456789abcdef";

/// A wrapped store must do everything that every store does.
struct Wrapped;

impl StoreSubject for Wrapped {}

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
