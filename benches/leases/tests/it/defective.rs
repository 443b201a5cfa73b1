//! Stores with one defect each.

use std::sync::{Arc, Mutex};

use agcore_benches_leases::subject::{Sessions, Subject};
use agcore_session::{
    Actor, Approval, CancelRequest, ClaimRequest, Claims, Commit, Committed, DeadLetter, Hold, Lease, NewSession,
    Release, ReleaseReason, Renewal, RunLeases, Session, SessionError, SessionWriter, StoreLayer, TenantShare,
};
use async_trait::async_trait;
use serde_json::Value;

/// A defect of leases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Leases hold until the run is over.
    ForgetsTheEndOfLeases,
    /// The next worker gets the same runs as well.
    GivesRunsAway,
    /// Every renewal succeeds.
    RenewsWhatIsLost,
    /// Runs that kill their workers are claimed for ever.
    CountsNoAttempts,
    /// The tenant that has asked for most comes first.
    PrefersTheFlood,
}

/// Leases with a defect.
#[derive(Debug)]
pub(crate) struct Defective {
    inner: Arc<dyn RunLeases>,
    defect: Defect,
    given: Mutex<Vec<Lease>>,
}

/// Returns a store whose leases have a defect.
pub(crate) fn with(defect: Defect) -> impl Fn(Subject) -> Subject {
    move |mut subject| {
        let inner = Arc::clone(&subject.leases);
        subject.leases = Arc::new(Defective {
            inner,
            defect,
            given: Mutex::default(),
        });
        subject
    }
}

impl Defective {
    /// Renews what was given to workers that may be gone.
    async fn keep(&self) -> Result<(), SessionError> {
        let given = std::mem::take(&mut *self.given.lock().unwrap());
        let renewals = self.inner.renew(&given).await?;
        let held = given
            .into_iter()
            .zip(renewals)
            .filter(|(_, renewal)| *renewal != Renewal::Lost);
        self.given.lock().unwrap().extend(held.map(|(lease, _)| lease));
        Ok(())
    }

    async fn prefer(&self, request: &ClaimRequest) -> Result<Claims, SessionError> {
        let mut claims = self.inner.claim(&request.clone().with_tenant("flood")).await?;
        let found = u32::try_from(claims.leases.len()).unwrap();
        if found < request.limit {
            let mut rest = request.clone().with_limit(request.limit - found);
            rest.holder.push_str("-rest");
            let rest = self.inner.claim(&rest).await?;
            claims.leases.extend(rest.leases);
            claims.dead.extend(rest.dead);
        }
        Ok(claims)
    }
}

#[async_trait]
impl RunLeases for Defective {
    async fn claim(&self, request: &ClaimRequest) -> Result<Claims, SessionError> {
        match self.defect {
            Defect::ForgetsTheEndOfLeases => self.keep().await?,
            Defect::PrefersTheFlood => return self.prefer(request).await,
            Defect::CountsNoAttempts => return self.inner.claim(&request.clone().with_max_attempts(u32::MAX)).await,
            Defect::GivesRunsAway | Defect::RenewsWhatIsLost => {}
        }
        let claims = self.inner.claim(request).await?;
        if self.defect == Defect::GivesRunsAway {
            for lease in &claims.leases {
                self.inner.release(lease, Release::new(ReleaseReason::Failed)).await?;
            }
        }
        self.given.lock().unwrap().extend(claims.leases.clone());
        Ok(claims)
    }

    async fn renew(&self, leases: &[Lease]) -> Result<Vec<Renewal>, SessionError> {
        let mut renewals = self.inner.renew(leases).await?;
        if self.defect == Defect::RenewsWhatIsLost {
            for (renewal, lease) in renewals.iter_mut().zip(leases) {
                *renewal = Renewal::Held {
                    remaining: lease.length,
                    cancel_requested: false,
                };
            }
        }
        Ok(renewals)
    }

    async fn cancel_requests(&self, leases: &[Lease]) -> Result<Vec<bool>, SessionError> {
        self.inner.cancel_requests(leases).await
    }

    async fn release(&self, lease: &Lease, release: Release) -> Result<bool, SessionError> {
        self.inner.release(lease, release).await
    }

    async fn end_delays(&self, tenant: &str, session: &str) -> Result<u64, SessionError> {
        self.inner.end_delays(tenant, session).await
    }

    async fn take_over(&self, cancels: bool) -> Result<u64, SessionError> {
        self.inner.take_over(cancels).await
    }

    async fn request_cancel(&self, tenant: &str, session: &str, run: &str) -> Result<CancelRequest, SessionError> {
        self.inner.request_cancel(tenant, session, run).await
    }

    async fn dead_letters(&self, tenant: Option<&str>, limit: u64) -> Result<Vec<DeadLetter>, SessionError> {
        self.inner.dead_letters(tenant, limit).await
    }

    async fn revive(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        self.inner.revive(tenant, session, run).await
    }

    async fn set_share(&self, tenant: &str, share: TenantShare) -> Result<(), SessionError> {
        self.inner.set_share(tenant, share).await
    }

    async fn share(&self, tenant: &str) -> Result<TenantShare, SessionError> {
        self.inner.share(tenant).await
    }
}

/// A store that writes whatever lease the writer has.
#[derive(Debug)]
struct Unfenced(Arc<dyn Sessions>);

/// Returns a store that ignores the fence.
pub(crate) fn unfenced(mut subject: Subject) -> Subject {
    subject.store = Arc::new(Unfenced(Arc::clone(&subject.store)));
    subject
}

impl StoreLayer for Unfenced {
    type Inner = dyn Sessions;

    fn inner(&self) -> &Self::Inner {
        &*self.0
    }
}

#[async_trait]
impl SessionWriter for Unfenced {
    async fn create(&self, session: NewSession) -> Result<Session, SessionError> {
        self.0.create(session).await
    }

    async fn commit(&self, tenant: &str, id: &str, end: u64, mut commit: Commit) -> Result<Committed, SessionError> {
        commit.fence = None;
        self.0.commit(tenant, id, end, commit).await
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError> {
        self.0.rename(tenant, session, title).await
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, SessionError> {
        self.0.answer(tenant, session, question, answer, by).await
    }

    async fn hold(&self, name: &str) -> Result<Hold, SessionError> {
        self.0.hold(name).await
    }

    async fn hold_shared(&self, name: &str) -> Result<Hold, SessionError> {
        self.0.hold_shared(name).await
    }
}
