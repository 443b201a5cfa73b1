//! [`RecordingStore`]: the store of a session while a run of it is active.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_flow_files::NODE_METADATA;
use agcore_memory::{
    Entry, Hold, Journal, MemoryError, Record,
    session::{
        Approval, ApprovalFilter, Commit, Committed, EventFilter, MessageFilter, NewSession, Pruned, Retention, Run,
        RunFilter, Session, SessionFilter, SessionStore, StoredCall, StoredEvent, StoredMessage,
    },
};
use async_trait::async_trait;
use serde_json::Value;

use super::{run_log::RunLog, stages::Stages};

/// The store of a session while a run of it is active: adds the events of the run to what the session writes. The run of a flow also
/// shows what the sessions of the agents in the flow write.
#[derive(Debug)]
pub(crate) struct RecordingStore {
    log: Arc<RunLog>,
    stages: Option<Arc<Stages>>,
}

impl RecordingStore {
    pub(crate) fn new(log: Arc<RunLog>) -> Self {
        Self { log, stages: None }
    }

    /// Returns the store for the agents of a flow.
    pub(crate) fn of_flow(stages: Arc<Stages>) -> Self {
        Self {
            log: Arc::clone(&stages.log),
            stages: Some(stages),
        }
    }

    /// Returns the sessions of a flow, if this is one of them.
    fn stages_of(&self, tenant: &str, session: &str) -> Option<&Stages> {
        let stages = self.stages.as_deref()?;
        (tenant == self.log.job.session().0 && stages.contains(session)).then_some(stages)
    }

    /// Writes to the session of an agent in a flow.
    async fn commit_stage(
        &self,
        stages: &Stages,
        session: &str,
        expected: u64,
        mut commit: Commit,
    ) -> Result<Committed, SessionError> {
        // The turn has queued previews that belong before this. Its reader takes them now.
        tokio::task::yield_now().await;
        // The conversation of the flow has the questions.
        commit.approvals.clear();
        stages.commit(session, expected, commit).await
    }

    fn store(&self) -> &dyn SessionStore {
        &*self.log.store
    }
}

#[async_trait]
impl Journal for RecordingStore {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        self.store().append(stream, expected, records).await
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        self.store().read(stream, from).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        self.store().trim(stream, before).await
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        self.store().delete(stream).await
    }
}

#[async_trait]
impl SessionStore for RecordingStore {
    async fn create(&self, session: NewSession) -> Result<Session, SessionError> {
        if let Some(stages) = self.stages_of(&session.owner.tenant, &session.id) {
            let node = session.metadata.get(NODE_METADATA).and_then(Value::as_str);
            stages.create(&session.id, node.unwrap_or_default()).await?;
        }
        self.store().create(session).await
    }

    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, SessionError> {
        self.store().get_session(tenant, session).await
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, SessionError> {
        self.store().sessions(filter).await
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        commit: Commit,
    ) -> Result<Committed, SessionError> {
        if (tenant, session) == self.log.job.session() {
            return self.log.commit(expected, commit).await;
        }
        if let Some(stages) = self.stages_of(tenant, session) {
            return self.commit_stage(stages, session, expected, commit).await;
        }
        self.store().commit(tenant, session, expected, commit).await
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError> {
        self.store().rename(tenant, session, title).await
    }

    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, SessionError> {
        self.store().messages(tenant, session, filter).await
    }

    async fn events(
        &self,
        tenant: &str,
        session: &str,
        filter: &EventFilter,
    ) -> Result<Vec<StoredEvent>, SessionError> {
        self.store().events(tenant, session, filter).await
    }

    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, SessionError> {
        self.store().runs(tenant, session, filter).await
    }

    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, SessionError> {
        self.store().calls(tenant, session, run).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, SessionError> {
        self.store().approvals(filter).await
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, SessionError> {
        self.store().answer(tenant, session, question, answer, by).await
    }

    async fn hold(&self, name: &str) -> Result<Hold, SessionError> {
        match self.log.hold_of(name) {
            Some(hold) => Ok(hold),
            None => self.store().hold(name).await,
        }
    }

    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        self.store().delete_session(tenant, session).await
    }

    async fn erase_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        self.store().erase_session(tenant, session).await
    }

    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, SessionError> {
        self.store().erase_sessions(owner).await
    }

    async fn prune(&self, retention: &Retention, limit: u64) -> Result<Pruned, SessionError> {
        self.store().prune(retention, limit).await
    }

    async fn prunable(&self, retention: &Retention) -> Result<Pruned, SessionError> {
        self.store().prunable(retention).await
    }
}
