//! The calls of stores of sessions and checkpoints.

use agcore_session::{
    Actor, Approval, ApprovalFilter, Checkpoint, CheckpointStore, Commit, Committed, EventFilter, Hold, ListedRun,
    MessageFilter, NewCheckpoint, NewSession, Pruned, Retention, Run, RunFilter, RunKey, RunListFilter, RunProgress,
    Session, SessionDocument, SessionError, SessionFilter, SessionReader, SessionRetention, SessionWriter, StoredCall,
    StoredEvent, StoredMessage,
};
use async_trait::async_trait;
use serde_json::Value;

use super::FaultyStore;

#[async_trait]
impl<S: SessionReader> SessionReader for FaultyStore<S> {
    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, SessionError> {
        self.call("get_session", self.inner.get_session(tenant, session)).await
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, SessionError> {
        self.call("sessions", self.inner.sessions(filter)).await
    }

    async fn document(&self, tenant: &str, session: &str) -> Result<Option<SessionDocument>, SessionError> {
        self.call("document", self.inner.document(tenant, session)).await
    }

    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, SessionError> {
        self.call("messages", self.inner.messages(tenant, session, filter))
            .await
    }

    async fn events(
        &self,
        tenant: &str,
        session: &str,
        filter: &EventFilter,
    ) -> Result<Vec<StoredEvent>, SessionError> {
        self.call("events", self.inner.events(tenant, session, filter)).await
    }

    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, SessionError> {
        self.call("runs", self.inner.runs(tenant, session, filter)).await
    }

    async fn run_list(&self, filter: &RunListFilter) -> Result<Vec<ListedRun>, SessionError> {
        self.call("run_list", self.inner.run_list(filter)).await
    }

    async fn progress(&self, runs: &[RunKey<'_>]) -> Result<Vec<Option<RunProgress>>, SessionError> {
        self.call("progress", self.inner.progress(runs)).await
    }

    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, SessionError> {
        self.call("calls", self.inner.calls(tenant, session, run)).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, SessionError> {
        self.call("approvals", self.inner.approvals(filter)).await
    }
}

#[async_trait]
impl<S: SessionWriter> SessionWriter for FaultyStore<S> {
    async fn create(&self, session: NewSession) -> Result<Session, SessionError> {
        self.call("create", self.inner.create(session)).await
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        commit: Commit,
    ) -> Result<Committed, SessionError> {
        let committed = self.inner.commit(tenant, session, expected, commit);
        self.call("commit", committed).await
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError> {
        self.call("rename", self.inner.rename(tenant, session, title)).await
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, SessionError> {
        let answered = self.inner.answer(tenant, session, question, answer, by);
        self.call("answer", answered).await
    }

    async fn hold(&self, name: &str) -> Result<Hold, SessionError> {
        // Not counted: it writes nothing.
        Ok(self.shared.holds.keep(self.inner.hold(name).await?))
    }

    async fn hold_shared(&self, name: &str) -> Result<Hold, SessionError> {
        Ok(self.shared.holds.keep(self.inner.hold_shared(name).await?))
    }
}

#[async_trait]
impl<S: SessionRetention> SessionRetention for FaultyStore<S> {
    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        self.call("delete_session", self.inner.delete_session(tenant, session))
            .await
    }

    async fn erase_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        self.call("erase_session", self.inner.erase_session(tenant, session))
            .await
    }

    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, SessionError> {
        self.call("erase_sessions", self.inner.erase_sessions(owner)).await
    }

    async fn prune(&self, retention: &Retention, limit: u64) -> Result<Pruned, SessionError> {
        self.call("prune", self.inner.prune(retention, limit)).await
    }

    async fn prunable(&self, retention: &Retention) -> Result<Pruned, SessionError> {
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
    ) -> Result<u64, SessionError> {
        let saved = self.inner.save_checkpoint(run, expected, checkpoint);
        self.call("save_checkpoint", saved).await
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        self.call("latest_checkpoints", self.inner.latest_checkpoints(run))
            .await
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        self.call("checkpoints", self.inner.checkpoints(run, from)).await
    }

    async fn checkpoints_at(&self, run: RunKey<'_>, seq: u64) -> Result<Vec<Checkpoint>, SessionError> {
        self.call("checkpoints_at", self.inner.checkpoints_at(run, seq)).await
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        self.call("trim_checkpoints", self.inner.trim_checkpoints(run, before))
            .await
    }
}
