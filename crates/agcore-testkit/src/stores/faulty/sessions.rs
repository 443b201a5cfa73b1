//! The calls of stores of sessions and checkpoints.

use agcore_memory::{
    Actor, Checkpoint, CheckpointStore, Hold, MemoryError, NewCheckpoint, RunKey,
    session::{
        Approval, ApprovalFilter, Commit, Committed, EventFilter, MessageFilter, NewSession, Pruned, Retention, Run,
        RunFilter, Session, SessionFilter, SessionStore, StoredCall, StoredEvent, StoredMessage,
    },
};
use async_trait::async_trait;
use serde_json::Value;

use super::FaultyStore;

#[async_trait]
impl<S: SessionStore> SessionStore for FaultyStore<S> {
    async fn create(&self, session: NewSession) -> Result<Session, MemoryError> {
        self.call("create", self.inner.create(session)).await
    }

    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, MemoryError> {
        self.call("get_session", self.inner.get_session(tenant, session)).await
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, MemoryError> {
        self.call("sessions", self.inner.sessions(filter)).await
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        commit: Commit,
    ) -> Result<Committed, MemoryError> {
        let committed = self.inner.commit(tenant, session, expected, commit);
        self.call("commit", committed).await
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), MemoryError> {
        self.call("rename", self.inner.rename(tenant, session, title)).await
    }

    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, MemoryError> {
        self.call("messages", self.inner.messages(tenant, session, filter))
            .await
    }

    async fn events(&self, tenant: &str, session: &str, filter: &EventFilter) -> Result<Vec<StoredEvent>, MemoryError> {
        self.call("events", self.inner.events(tenant, session, filter)).await
    }

    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, MemoryError> {
        self.call("runs", self.inner.runs(tenant, session, filter)).await
    }

    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, MemoryError> {
        self.call("calls", self.inner.calls(tenant, session, run)).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, MemoryError> {
        self.call("approvals", self.inner.approvals(filter)).await
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, MemoryError> {
        let answered = self.inner.answer(tenant, session, question, answer, by);
        self.call("answer", answered).await
    }

    async fn hold(&self, name: &str) -> Result<Hold, MemoryError> {
        // Not counted: it writes nothing.
        Ok(self.shared.holds.keep(self.inner.hold(name).await?))
    }

    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, MemoryError> {
        self.call("delete_session", self.inner.delete_session(tenant, session))
            .await
    }

    async fn erase_session(&self, tenant: &str, session: &str) -> Result<bool, MemoryError> {
        self.call("erase_session", self.inner.erase_session(tenant, session))
            .await
    }

    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, MemoryError> {
        self.call("erase_sessions", self.inner.erase_sessions(owner)).await
    }

    async fn prune(&self, retention: &Retention, limit: u64) -> Result<Pruned, MemoryError> {
        self.call("prune", self.inner.prune(retention, limit)).await
    }

    async fn prunable(&self, retention: &Retention) -> Result<Pruned, MemoryError> {
        self.call("prunable", self.inner.prunable(retention)).await
    }
}

#[async_trait]
impl<S: CheckpointStore> CheckpointStore for FaultyStore<S> {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, MemoryError> {
        let saved = self.inner.save_checkpoint(run, expected, checkpoint);
        self.call("save_checkpoint", saved).await
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, MemoryError> {
        self.call("latest_checkpoints", self.inner.latest_checkpoints(run))
            .await
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, MemoryError> {
        self.call("checkpoints", self.inner.checkpoints(run, from)).await
    }

    async fn checkpoints_at(&self, run: RunKey<'_>, seq: u64) -> Result<Vec<Checkpoint>, MemoryError> {
        self.call("checkpoints_at", self.inner.checkpoints_at(run, seq)).await
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, MemoryError> {
        self.call("trim_checkpoints", self.inner.trim_checkpoints(run, before))
            .await
    }
}
