//! [`Opened`]: a session store to check.

use std::{sync::Arc, time::Duration};

use agcore_session::{
    Actor, Approval, ApprovalChange, ApprovalFilter, CallChange, Clock, Commit, Committed, DocumentChange, Entry,
    EventFilter, MessageFilter, MessageRole, NewApproval, NewEvent, NewMessage, NewSession, Record, Run, RunChange,
    RunFilter, RunStatus, Session, SessionDocument, SessionErrorKind, SessionStore, StoredCall, StoredEvent,
    StoredMessage, Timestamp, stream_of,
};
use serde_json::{Value, json};

use crate::{clock::ManualClock, stores::SessionStoreSubject};

/// A store, with the clock that it uses. The sessions of most checks belong to the tenant `local`.
pub(super) struct Opened {
    pub(super) store: Arc<dyn SessionStore>,
    pub(super) clock: Arc<ManualClock>,
}

/// Everything that a store keeps of a session.
#[derive(Debug, PartialEq)]
pub(super) struct Contents {
    pub(super) session: Option<Session>,
    pub(super) records: Vec<Entry>,
    pub(super) messages: Vec<StoredMessage>,
    pub(super) audit: Vec<StoredMessage>,
    pub(super) events: Vec<StoredEvent>,
    pub(super) runs: Vec<Run>,
    pub(super) calls: Vec<StoredCall>,
    pub(super) approvals: Vec<Approval>,
    pub(super) document: Option<SessionDocument>,
}

/// Opens an empty store with a clock that does not move by itself.
pub(super) async fn open(subject: &dyn SessionStoreSubject) -> Opened {
    let clock = Arc::new(ManualClock::new());
    let store = subject.session_store(Arc::clone(&clock) as _).await;
    Opened { store, clock }
}

/// Opens an empty store twice. The clock is the one of both.
pub(super) async fn open_twice(subject: &dyn SessionStoreSubject) -> [Opened; 2] {
    let clock = Arc::new(ManualClock::new());
    let stores = subject.session_store_twice(Arc::clone(&clock) as _).await;
    stores.map(|store| Opened {
        store,
        clock: Arc::clone(&clock),
    })
}

impl Opened {
    /// Creates a session of the actor `local`.
    pub(super) async fn create(&self, id: &str) -> Session {
        self.store.create(NewSession::new(id)).await.unwrap()
    }

    pub(super) async fn get(&self, id: &str) -> Session {
        self.store.get_session("local", id).await.unwrap().unwrap()
    }

    /// Commits at the end of the session.
    pub(super) async fn commit(&self, id: &str, commit: Commit) -> Committed {
        let end = self.get(id).await.end;
        self.store.commit("local", id, end, commit).await.unwrap()
    }

    /// Commits at the end of the session what must be refused. Returns why it was.
    pub(super) async fn refuse(&self, id: &str, commit: Commit) -> SessionErrorKind {
        let end = self.get(id).await.end;
        let error = self.store.commit("local", id, end, commit).await.unwrap_err();
        assert!(!error.message().is_empty());
        error.kind()
    }

    /// Returns the time that the store should have seen last.
    pub(super) fn clock_now(&self) -> Timestamp {
        self.clock.now().into()
    }

    /// Lets time pass.
    pub(super) fn wait(&self) {
        self.clock.advance(Duration::from_secs(1));
    }

    pub(super) async fn messages(&self, id: &str, filter: MessageFilter) -> Vec<StoredMessage> {
        self.store.messages("local", id, &filter).await.unwrap()
    }

    /// Returns the numbers of the messages that a filter selects.
    pub(super) async fn numbers(&self, id: &str, filter: MessageFilter) -> Vec<i64> {
        let messages = self.messages(id, filter).await;
        messages.into_iter().map(|message| message.seq).collect()
    }

    /// Returns everything that the store keeps of a session whose runs are called `r` or have the id of the session.
    pub(super) async fn contents(&self, tenant: &str, id: &str) -> Contents {
        let store = &self.store;
        let mut calls = store.calls(tenant, id, "r").await.unwrap();
        calls.extend(store.calls(tenant, id, id).await.unwrap());
        Contents {
            session: store.get_session(tenant, id).await.unwrap(),
            records: store.read(&stream_of(tenant, id), 0).await.unwrap(),
            messages: store.messages(tenant, id, &MessageFilter::new()).await.unwrap(),
            audit: store.messages(tenant, id, &MessageFilter::audit()).await.unwrap(),
            events: store.events(tenant, id, &EventFilter::new()).await.unwrap(),
            runs: store.runs(tenant, id, &RunFilter::new()).await.unwrap(),
            calls,
            approvals: store
                .approvals(&ApprovalFilter::new(tenant).with_session(id))
                .await
                .unwrap(),
            document: store.document(tenant, id).await.unwrap(),
        }
    }
}

impl Contents {
    pub(super) fn is_empty(&self) -> bool {
        self.session.is_none()
            && self.records.is_empty()
            && self.messages.is_empty()
            && self.audit.is_empty()
            && self.events.is_empty()
            && self.runs.is_empty()
            && self.calls.is_empty()
            && self.approvals.is_empty()
            && self.document.is_none()
    }
}

pub(super) fn record(data: impl Into<Value>) -> Record {
    Record::new("test", 1, Timestamp::from_millis(1_700_000_000_123), data.into())
}

/// A message of the user with this id as its content, too.
pub(super) fn message(id: &str) -> NewMessage {
    NewMessage::new(id, MessageRole::User, id)
}

/// A commit that starts a run.
pub(super) fn start(run: &str) -> Commit {
    Commit::new().with_run(RunChange::new(run, RunStatus::Running))
}

/// A commit with a part of each kind, in a run that has not started yet. Each part contains the word.
pub(super) fn one_of_each(run: &str, word: &str) -> Commit {
    let data = || json!({"text": word});
    let question = format!("question {word}");
    start(run)
        .with_record(record(word))
        .with_message(message(word).with_run(run))
        .with_message(NewMessage::audit(format!("{word} audit"), word))
        .with_event(NewEvent::new(run, "text", data()))
        .with_call(CallChange::start(run, "call 1", "search", data()))
        .with_call(CallChange::finish(run, "call 1", data()))
        .with_approval(ApprovalChange::Ask(NewApproval::new(&*question, run, data())))
        .with_approval(ApprovalChange::answer(question, data(), Actor::local()))
        .with_document(DocumentChange::new(data()))
        .with_title(word)
}
