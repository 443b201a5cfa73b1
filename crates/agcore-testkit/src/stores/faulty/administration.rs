//! The calls of administrators, and the reports of processes.

use agcore_session::{
    DeadLetter, DeadLetterFilter, HeldRun, RunAdministration, SessionError, TenantRuns, Worker, WorkerReport,
};
use async_trait::async_trait;

use super::FaultyStore;

#[async_trait]
impl<S: RunAdministration> RunAdministration for FaultyStore<S> {
    async fn tenants(&self, after: Option<&str>, limit: u64) -> Result<Vec<TenantRuns>, SessionError> {
        self.call("tenants", self.inner.tenants(after, limit)).await
    }

    async fn tenant(&self, tenant: &str) -> Result<Option<TenantRuns>, SessionError> {
        self.call("tenant", self.inner.tenant(tenant)).await
    }

    async fn delete_share(&self, tenant: &str) -> Result<bool, SessionError> {
        self.call("delete_share", self.inner.delete_share(tenant)).await
    }

    async fn dead_letter_page(&self, filter: &DeadLetterFilter) -> Result<Vec<DeadLetter>, SessionError> {
        self.call("dead_letter_page", self.inner.dead_letter_page(filter)).await
    }

    async fn discard_dead_letter(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        let discarded = self.inner.discard_dead_letter(tenant, session, run);
        self.call("discard_dead_letter", discarded).await
    }

    async fn held_runs(&self, holder: &str, limit: u64) -> Result<Vec<HeldRun>, SessionError> {
        self.call("held_runs", self.inner.held_runs(holder, limit)).await
    }

    async fn report_worker(&self, report: &WorkerReport) -> Result<Worker, SessionError> {
        self.call("report_worker", self.inner.report_worker(report)).await
    }

    async fn forget_worker(&self, id: &str) -> Result<bool, SessionError> {
        self.call("forget_worker", self.inner.forget_worker(id)).await
    }

    async fn workers(&self, limit: u64) -> Result<Vec<Worker>, SessionError> {
        self.call("workers", self.inner.workers(limit)).await
    }

    async fn drain_worker(&self, id: &str, drains: bool) -> Result<Option<Worker>, SessionError> {
        self.call("drain_worker", self.inner.drain_worker(id, drains)).await
    }

    async fn is_outdated(&self) -> Result<bool, SessionError> {
        self.call("is_outdated", self.inner.is_outdated()).await
    }
}
