//! [`RunLeases`]: sharing runs among workers.

use std::fmt::Debug;

use async_trait::async_trait;

use super::writer::StoreLayer;
use crate::{
    error::SessionError,
    lease::{CancelRequest, ClaimRequest, Claims, DeadLetter, Lease, Release, Renewal, TenantShare},
};

/// Shares the runs of a [`SessionStore`](crate::SessionStore) among any number of workers.
///
/// A run that is [`Queued`](crate::RunStatus::Queued) waits for a worker. A worker [claims](Self::claim) it and has a [`Lease`],
/// which it [renews](Self::renew) in time. Everything that it writes for the run carries the [fence](Lease::fence) of the lease,
/// and is refused as [`Fenced`](crate::SessionErrorKind::Fenced) once the lease has expired. Then another worker claims the run
/// with a greater epoch. The lease ends with the run: after a write that completes, interrupts, fails or cancels it, the fence
/// refuses.
///
/// What a worker does outside the database may happen again when another worker takes over: at least once, with the epoch as the
/// fence, and not exactly once.
///
/// All times are those of the database: of the server with PostgreSQL, so that clocks of machines need not agree; and of the clock
/// of the store with SQLite and in memory, which is why all processes that use a SQLite file have to run on one machine. Workers
/// get durations only.
///
/// Programs that drive runs without leases still work, but not beside workers: they would both begin a queued run.
///
/// Every implementation must pass the suite `agcore_testkit::stores::leases`.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::SystemClock;
/// use agcore_session::{
///     ClaimRequest, Commit, InMemorySessionStore, NewSession, Release, ReleaseReason, RunChange, RunLeases, RunStatus,
///     SessionErrorKind, SessionWriter,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = InMemorySessionStore::new(Arc::new(SystemClock::new()));
/// let session = store.create(NewSession::new("tea")).await?;
/// let queued = Commit::new().with_run(RunChange::new("r1", RunStatus::Queued));
/// store.commit("local", "tea", session.end, queued).await?;
///
/// let claims = store.claim(&ClaimRequest::new("a random id", "worker 1")).await?;
/// let lease = &claims.leases[0];
/// assert_eq!((&*lease.run, lease.attempt), ("r1", 1));
/// let begin = Commit::new()
///     .with_run(RunChange::new("r1", RunStatus::Running))
///     .with_fence(lease.fence());
/// store.commit("local", "tea", 0, begin.clone()).await?;
///
/// // The worker stops, and another one can continue at once.
/// store.release(lease, Release::new(ReleaseReason::GivenBack)).await?;
/// let late = store.commit("local", "tea", 0, begin).await.unwrap_err();
/// assert_eq!(late.kind(), SessionErrorKind::Fenced);
/// let claims = store.claim(&ClaimRequest::new("another id", "worker 2")).await?;
/// assert_eq!(claims.leases[0].epoch, 2);
/// # Ok::<(), agcore_session::SessionError>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait RunLeases: Send + Sync + Debug {
    /// Gives runs to a worker: those that wait, were released, or whose lease has expired. Of the runs of a session, only one has a
    /// holder at a time; it is the oldest that has started, else the oldest that may begin.
    ///
    /// The tenants have runs in the proportion of their [shares](TenantShare). Within a tenant, the
    /// [priority](crate::LeaseState::priority) decides, and the time of waiting.
    ///
    /// A run that was claimed as often as the request allows fails instead, and is returned as a dead letter. Its session fails as
    /// well, if it was running.
    ///
    /// Dropping the future leaves open whether runs were claimed. Asking again with the same holder returns their leases.
    ///
    /// # Errors
    /// When the request is not acceptable or the storage fails.
    async fn claim(&self, request: &ClaimRequest) -> Result<Claims, SessionError>;

    /// Renews leases, each for its length from now on. Returns an answer for each, in the same order. All of them take one
    /// statement.
    ///
    /// Dropping the future leaves open whether they were renewed.
    ///
    /// # Errors
    /// When the storage fails. The leases are then as they were, or renewed.
    async fn renew(&self, leases: &[Lease]) -> Result<Vec<Renewal>, SessionError>;

    /// Returns for each lease whether somebody has asked to cancel its run, in the same order, without renewing any. It is false
    /// for those that do not hold any more. Workers ask this more often than they renew. It takes one statement.
    ///
    /// # Errors
    /// When the storage fails.
    async fn cancel_requests(&self, leases: &[Lease]) -> Result<Vec<bool>, SessionError>;

    /// Gives a lease back, so that another worker can have the run at once, or after a delay. Returns whether the worker still had
    /// it.
    ///
    /// Dropping the future leaves open whether it was released.
    ///
    /// # Errors
    /// When the storage fails.
    async fn release(&self, lease: &Lease, release: Release) -> Result<bool, SessionError>;

    /// Lets the runs of a session be claimed at once that were [released](Self::release) with a delay, because what they wait for
    /// may be there. Returns their number. Runs that no worker has had keep their time.
    ///
    /// Dropping the future leaves open whether they can be claimed.
    ///
    /// # Errors
    /// When the storage fails.
    async fn end_delays(&self, tenant: &str, session: &str) -> Result<u64, SessionError>;

    /// Takes all runs back from their workers, so that they can be claimed at once, and asks to cancel them if `cancels` is true.
    /// Returns the number of runs that wait for a worker now. For a process that has the database for itself and knows that no
    /// worker of an earlier one is left; without this, it has to wait until their leases have expired.
    ///
    /// Dropping the future leaves open whether they were taken back.
    ///
    /// # Errors
    /// When the storage fails.
    async fn take_over(&self, cancels: bool) -> Result<u64, SessionError>;

    /// Asks the worker that has a run to cancel it. The worker learns it with its next renewal, or when it asks for the
    /// [requests](Self::cancel_requests). Asking again changes nothing.
    ///
    /// Dropping the future leaves open whether it was asked for.
    ///
    /// # Errors
    /// [`NotFound`](crate::SessionErrorKind::NotFound) if there is no such run, and other errors when the storage fails.
    async fn request_cancel(&self, tenant: &str, session: &str, run: &str) -> Result<CancelRequest, SessionError>;

    /// Returns the runs that were claimed too often, of one tenant or of all, the oldest first.
    ///
    /// # Errors
    /// When the storage fails.
    async fn dead_letters(&self, tenant: Option<&str>, limit: u64) -> Result<Vec<DeadLetter>, SessionError>;

    /// Queues a dead letter again, as if it had not been claimed yet. It keeps its epoch, so that workers of earlier attempts still
    /// cannot write.
    ///
    /// Dropping the future leaves open whether it was queued.
    ///
    /// # Errors
    /// - [`NotFound`](crate::SessionErrorKind::NotFound) if there is no such run.
    /// - [`InvalidState`](crate::SessionErrorKind::InvalidState) if it is not a dead letter.
    /// - Other errors when the storage fails.
    async fn revive(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError>;

    /// Sets the share of a tenant.
    ///
    /// Dropping the future leaves open whether it was set.
    ///
    /// # Errors
    /// When the tenant or the share is not acceptable, or the storage fails.
    async fn set_share(&self, tenant: &str, share: TenantShare) -> Result<(), SessionError>;

    /// Returns the share of a tenant: the default one if none was set.
    ///
    /// # Errors
    /// When the storage fails.
    async fn share(&self, tenant: &str) -> Result<TenantShare, SessionError>;

    /// Wakes the workers of other processes that wait for an [announcement](Self::announced), because a run can be claimed. They
    /// find it anyway when they ask the next time; this only makes it sooner. Does nothing by default.
    ///
    /// # Errors
    /// When the storage fails.
    async fn announce(&self) -> Result<(), SessionError> {
        Ok(())
    }

    /// Waits until there may be a run to claim: another process has [announced](Self::announce) one, or an announcement may have
    /// been missed. Several announcements may be reported as one. Never returns by default; workers ask regularly in any case.
    ///
    /// Dropping the future misses no announcement of later calls that a claim after them would not find.
    ///
    /// # Errors
    /// When the storage cannot be reached.
    async fn announced(&self) -> Result<(), SessionError> {
        std::future::pending().await
    }
}

#[async_trait]
impl<L> RunLeases for L
where
    L: StoreLayer<Inner: RunLeases> + Send + Sync + Debug + ?Sized,
{
    async fn claim(&self, request: &ClaimRequest) -> Result<Claims, SessionError> {
        self.inner().claim(request).await
    }

    async fn renew(&self, leases: &[Lease]) -> Result<Vec<Renewal>, SessionError> {
        self.inner().renew(leases).await
    }

    async fn cancel_requests(&self, leases: &[Lease]) -> Result<Vec<bool>, SessionError> {
        self.inner().cancel_requests(leases).await
    }

    async fn release(&self, lease: &Lease, release: Release) -> Result<bool, SessionError> {
        self.inner().release(lease, release).await
    }

    async fn end_delays(&self, tenant: &str, session: &str) -> Result<u64, SessionError> {
        self.inner().end_delays(tenant, session).await
    }

    async fn take_over(&self, cancels: bool) -> Result<u64, SessionError> {
        self.inner().take_over(cancels).await
    }

    async fn request_cancel(&self, tenant: &str, session: &str, run: &str) -> Result<CancelRequest, SessionError> {
        self.inner().request_cancel(tenant, session, run).await
    }

    async fn dead_letters(&self, tenant: Option<&str>, limit: u64) -> Result<Vec<DeadLetter>, SessionError> {
        self.inner().dead_letters(tenant, limit).await
    }

    async fn revive(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        self.inner().revive(tenant, session, run).await
    }

    async fn set_share(&self, tenant: &str, share: TenantShare) -> Result<(), SessionError> {
        self.inner().set_share(tenant, share).await
    }

    async fn share(&self, tenant: &str) -> Result<TenantShare, SessionError> {
        self.inner().share(tenant).await
    }

    async fn announce(&self) -> Result<(), SessionError> {
        self.inner().announce().await
    }

    async fn announced(&self) -> Result<(), SessionError> {
        self.inner().announced().await
    }
}
