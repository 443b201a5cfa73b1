//! [`RecordingStore`]: the store of a session while a run of it is active.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_memory::{
    Entry, Journal, MemoryError, Record,
    session::{
        Approval, ApprovalFilter, Commit, Committed, EventFilter, MessageFilter, NewSession, Run, RunFilter, Session,
        SessionFilter, SessionStore, StoredCall, StoredEvent, StoredMessage,
    },
};
use async_trait::async_trait;
use serde_json::Value;

use super::run_log::RunLog;

/// The store of a session while a run of it is active: adds the events of the run to what the session writes.
#[derive(Debug)]
pub(crate) struct RecordingStore {
    log: Arc<RunLog>,
}

impl RecordingStore {
    pub(crate) fn new(log: Arc<RunLog>) -> Self {
        Self { log }
    }

    fn store(&self) -> &dyn SessionStore {
        &*self.log.store
    }
}

#[async_trait]
impl Journal for RecordingStore {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, MemoryError> {
        self.store().append(stream, expected, records).await
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, MemoryError> {
        self.store().read(stream, from).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), MemoryError> {
        self.store().trim(stream, before).await
    }

    async fn delete(&self, stream: &str) -> Result<bool, MemoryError> {
        self.store().delete(stream).await
    }
}

#[async_trait]
impl SessionStore for RecordingStore {
    async fn create(&self, session: NewSession) -> Result<Session, MemoryError> {
        self.store().create(session).await
    }

    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, MemoryError> {
        self.store().get_session(tenant, session).await
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, MemoryError> {
        self.store().sessions(filter).await
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        commit: Commit,
    ) -> Result<Committed, MemoryError> {
        if (tenant, session) == self.log.job.session() {
            return self.log.commit(expected, commit).await;
        }
        self.store().commit(tenant, session, expected, commit).await
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), MemoryError> {
        self.store().rename(tenant, session, title).await
    }

    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, MemoryError> {
        self.store().messages(tenant, session, filter).await
    }

    async fn events(&self, tenant: &str, session: &str, filter: &EventFilter) -> Result<Vec<StoredEvent>, MemoryError> {
        self.store().events(tenant, session, filter).await
    }

    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, MemoryError> {
        self.store().runs(tenant, session, filter).await
    }

    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, MemoryError> {
        self.store().calls(tenant, session, run).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, MemoryError> {
        self.store().approvals(filter).await
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, MemoryError> {
        self.store().answer(tenant, session, question, answer, by).await
    }

    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, MemoryError> {
        self.store().delete_session(tenant, session).await
    }

    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, MemoryError> {
        self.store().erase_sessions(owner).await
    }
}
