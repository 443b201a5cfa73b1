//! [`Opened`]: stores of leases to check.

use std::{sync::Arc, time::Duration};

use agcore_session::{
    Actor, ClaimRequest, Claims, Commit, Committed, Lease, NewSession, Renewal, Run, RunChange, RunFilter, RunStatus,
    Session, SessionError, SessionErrorKind,
};

use crate::stores::{LeaseStore, RunLeasesSubject};

/// The length of the leases of the checks. Long enough that none expires by itself on a slow machine.
pub(super) const LENGTH: Duration = Duration::from_secs(600);

/// One database that is opened twice.
pub(super) struct Opened<'s> {
    subject: &'s dyn RunLeasesSubject,
    pub(super) store: Arc<dyn LeaseStore>,
    pub(super) other: Arc<dyn LeaseStore>,
}

pub(super) async fn open(subject: &dyn RunLeasesSubject) -> Opened<'_> {
    let [store, other] = subject.lease_stores().await;
    Opened { subject, store, other }
}

/// A request with an id that is new for each call in a test.
pub(super) fn request(holder: &str) -> ClaimRequest {
    ClaimRequest::new(holder, format!("worker of {holder}")).with_length(LENGTH)
}

/// A queued run.
pub(super) fn queued(run: &str) -> RunChange {
    RunChange::new(run, RunStatus::Queued)
}

/// Returns the ids of the runs, in order.
pub(super) fn runs(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| &*lease.run).collect()
}

/// Returns why a write was refused.
pub(super) fn refused<T>(result: Result<T, SessionError>) -> SessionErrorKind {
    match result {
        Ok(_) => panic!("the write was not refused"),
        Err(error) => {
            assert!(!error.message().is_empty());
            error.kind()
        }
    }
}

impl Opened<'_> {
    /// Lets time pass.
    pub(super) async fn pass(&self, seconds: u64) {
        self.subject.pass(Duration::from_secs(seconds)).await;
    }

    /// Lets so much time pass that leases expire.
    pub(super) async fn expire(&self) {
        self.pass(LENGTH.as_secs() + 1).await;
    }

    /// Queues a run in a session of its own, which has its name.
    pub(super) async fn queue(&self, tenant: &str, run: RunChange) {
        let session = run.id.clone();
        self.queue_in((tenant, &session), run).await;
    }

    /// Queues a run in a session, which is created if it does not exist.
    pub(super) async fn queue_in(&self, (tenant, session): (&str, &str), run: RunChange) {
        if self.store.get_session(tenant, session).await.unwrap().is_none() {
            let new = NewSession::new(session).with_owner(Actor::new(tenant, "ann"));
            self.store.create(new).await.unwrap();
        }
        self.commit((tenant, session), Commit::new().with_run(run))
            .await
            .unwrap();
        // No two runs began to wait at the same time.
        self.pass(1).await;
    }

    pub(super) async fn session(&self, (tenant, session): (&str, &str)) -> Session {
        self.store.get_session(tenant, session).await.unwrap().unwrap()
    }

    /// Commits at the end of a session.
    pub(super) async fn commit(
        &self,
        (tenant, session): (&str, &str),
        commit: Commit,
    ) -> Result<Committed, SessionError> {
        let end = self.session((tenant, session)).await.end;
        self.store.commit(tenant, session, end, commit).await
    }

    /// Commits for the run of a lease, at the end of its session.
    pub(super) async fn write(&self, lease: &Lease, commit: Commit) -> Result<Committed, SessionError> {
        let commit = commit.with_fence(lease.fence());
        self.commit((&lease.tenant, &lease.session), commit).await
    }

    /// Changes the status of the run of a lease.
    pub(super) async fn set_status(&self, lease: &Lease, status: RunStatus) {
        let change = RunChange::new(&*lease.run, status);
        self.write(lease, Commit::new().with_run(change)).await.unwrap();
    }

    pub(super) async fn claim(&self, request: ClaimRequest) -> Claims {
        self.store.claim(&request).await.unwrap()
    }

    /// Claims one run, which there must be.
    pub(super) async fn claim_one(&self, holder: &str) -> Lease {
        let claims = self.claim(request(holder)).await;
        assert_eq!(claims.leases.len(), 1, "no run was claimed");
        claims.leases.into_iter().next().unwrap()
    }

    /// Checks that no run can be claimed.
    pub(super) async fn claim_none(&self, holder: &str) {
        let claims = self.claim(request(holder).with_limit(10)).await;
        assert_eq!(runs(&claims.leases), [""; 0]);
        assert_eq!(claims.dead, []);
    }

    /// Renews one lease.
    pub(super) async fn renew(&self, lease: &Lease) -> Renewal {
        let renewals = self.store.renew(std::slice::from_ref(lease)).await.unwrap();
        assert_eq!(renewals.len(), 1);
        renewals[0]
    }

    /// Returns the run of a lease.
    pub(super) async fn run(&self, lease: &Lease) -> Run {
        let filter = RunFilter::new().with_id(&*lease.run);
        let found = self.store.runs(&lease.tenant, &lease.session, &filter).await.unwrap();
        found.into_iter().next().unwrap()
    }
}
