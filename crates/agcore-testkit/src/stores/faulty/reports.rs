//! The calls of reports over sessions.

use agcore_session::{
    ApprovalFilter, BillPlace, BilledMessage, CostEntry, RunKey, SessionError, SessionReports, SpendingFilter,
    StoredEvent,
};
use async_trait::async_trait;

use super::FaultyStore;

#[async_trait]
impl<S: SessionReports> SessionReports for FaultyStore<S> {
    async fn count_approvals(&self, filter: &ApprovalFilter) -> Result<u64, SessionError> {
        self.call("count_approvals", self.inner.count_approvals(filter)).await
    }

    async fn last_events(&self, runs: &[RunKey<'_>], count: u64) -> Result<Vec<Vec<StoredEvent>>, SessionError> {
        self.call("last_events", self.inner.last_events(runs, count)).await
    }

    async fn bills(&self, tenant: &str, places: &[BillPlace]) -> Result<Vec<Vec<CostEntry>>, SessionError> {
        self.call("bills", self.inner.bills(tenant, places)).await
    }

    async fn spending(&self, filter: &SpendingFilter) -> Result<Vec<BilledMessage>, SessionError> {
        self.call("spending", self.inner.spending(filter)).await
    }
}
