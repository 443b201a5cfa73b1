//! The calls of stores of leases.

use agcore_session::{
    CancelRequest, ClaimRequest, Claims, DeadLetter, Lease, Release, Renewal, RunLeases, SessionError, TenantShare,
};
use async_trait::async_trait;

use super::FaultyStore;

#[async_trait]
impl<S: RunLeases> RunLeases for FaultyStore<S> {
    async fn claim(&self, request: &ClaimRequest) -> Result<Claims, SessionError> {
        self.call("claim", self.inner.claim(request)).await
    }

    async fn renew(&self, leases: &[Lease]) -> Result<Vec<Renewal>, SessionError> {
        self.call("renew", self.inner.renew(leases)).await
    }

    async fn cancel_requests(&self, leases: &[Lease]) -> Result<Vec<bool>, SessionError> {
        self.call("cancel_requests", self.inner.cancel_requests(leases)).await
    }

    async fn release(&self, lease: &Lease, release: Release) -> Result<bool, SessionError> {
        self.call("release", self.inner.release(lease, release)).await
    }

    async fn end_delays(&self, tenant: &str, session: &str) -> Result<u64, SessionError> {
        self.call("end_delays", self.inner.end_delays(tenant, session)).await
    }

    async fn take_over(&self, cancels: bool) -> Result<u64, SessionError> {
        self.call("take_over", self.inner.take_over(cancels)).await
    }

    async fn request_cancel(&self, tenant: &str, session: &str, run: &str) -> Result<CancelRequest, SessionError> {
        let requested = self.inner.request_cancel(tenant, session, run);
        self.call("request_cancel", requested).await
    }

    async fn dead_letters(&self, tenant: Option<&str>, limit: u64) -> Result<Vec<DeadLetter>, SessionError> {
        self.call("dead_letters", self.inner.dead_letters(tenant, limit)).await
    }

    async fn revive(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        self.call("revive", self.inner.revive(tenant, session, run)).await
    }

    async fn set_share(&self, tenant: &str, share: TenantShare) -> Result<(), SessionError> {
        self.call("set_share", self.inner.set_share(tenant, share)).await
    }

    async fn share(&self, tenant: &str) -> Result<TenantShare, SessionError> {
        self.call("share", self.inner.share(tenant)).await
    }

    async fn announce(&self) -> Result<(), SessionError> {
        self.call("announce", self.inner.announce()).await
    }

    async fn announced(&self) -> Result<(), SessionError> {
        self.call("announced", self.inner.announced()).await
    }
}
