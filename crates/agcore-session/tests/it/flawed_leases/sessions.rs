//! The contracts that a store of leases implements like every other one.

use agcore_session::{
    Actor, Approval, ApprovalFilter, BillPlace, BilledMessage, CostEntry, Entry, EventFilter, Journal, ListedRun,
    MessageFilter, Pruned, Record, Retention, Run, RunFilter, RunKey, RunListFilter, RunProgress, RunStatus, Session,
    SessionDocument, SessionError, SessionFilter, SessionReader, SessionReports, SessionRetention, SpendingFilter,
    StoredCall, StoredEvent, StoredMessage,
};
use async_trait::async_trait;

use super::store::{Flaw, Flawed};

#[async_trait]
impl Journal for Flawed {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        self.store.append(stream, expected, records).await
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        self.store.read(stream, from).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        self.store.trim(stream, before).await
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        self.store.delete(stream).await
    }
}

#[async_trait]
impl SessionReader for Flawed {
    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, SessionError> {
        self.store.get_session(tenant, session).await
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, SessionError> {
        self.store.sessions(filter).await
    }

    async fn document(&self, tenant: &str, session: &str) -> Result<Option<SessionDocument>, SessionError> {
        self.store.document(tenant, session).await
    }

    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, SessionError> {
        self.store.messages(tenant, session, filter).await
    }

    async fn events(
        &self,
        tenant: &str,
        session: &str,
        filter: &EventFilter,
    ) -> Result<Vec<StoredEvent>, SessionError> {
        self.store.events(tenant, session, filter).await
    }

    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, SessionError> {
        let mut runs = self.store.runs(tenant, session, filter).await?;
        if self.flaw == Flaw::InterruptedRunsKeepTheirWorkers {
            for run in runs.iter_mut().filter(|run| run.status == RunStatus::Interrupted) {
                run.lease.holder = Some("worker".to_owned());
            }
        }
        Ok(runs)
    }

    async fn run_list(&self, filter: &RunListFilter) -> Result<Vec<ListedRun>, SessionError> {
        self.store.run_list(filter).await
    }

    async fn progress(&self, runs: &[RunKey<'_>]) -> Result<Vec<Option<RunProgress>>, SessionError> {
        let mut progress = self.store.progress(runs).await?;
        if self.flaw == Flaw::DeadRunsLookAlive {
            progress.iter_mut().flatten().for_each(|run| run.is_dead = false);
        }
        Ok(progress)
    }

    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, SessionError> {
        self.store.calls(tenant, session, run).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, SessionError> {
        self.store.approvals(filter).await
    }
}

#[async_trait]
impl SessionReports for Flawed {
    async fn count_approvals(&self, filter: &ApprovalFilter) -> Result<u64, SessionError> {
        self.store.count_approvals(filter).await
    }

    async fn last_events(&self, runs: &[RunKey<'_>], count: u64) -> Result<Vec<Vec<StoredEvent>>, SessionError> {
        self.store.last_events(runs, count).await
    }

    async fn bills(&self, tenant: &str, places: &[BillPlace]) -> Result<Vec<Vec<CostEntry>>, SessionError> {
        self.store.bills(tenant, places).await
    }

    async fn spending(&self, filter: &SpendingFilter) -> Result<Vec<BilledMessage>, SessionError> {
        self.store.spending(filter).await
    }
}

#[async_trait]
impl SessionRetention for Flawed {
    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        self.store.delete_session(tenant, session).await
    }

    async fn erase_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        self.store.erase_session(tenant, session).await
    }

    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, SessionError> {
        self.store.erase_sessions(owner).await
    }

    async fn prune(&self, retention: &Retention, limit: u64) -> Result<Pruned, SessionError> {
        self.store.prune(retention, limit).await
    }

    async fn prunable(&self, retention: &Retention) -> Result<Pruned, SessionError> {
        self.store.prunable(retention).await
    }
}
