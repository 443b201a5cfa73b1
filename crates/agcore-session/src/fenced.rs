//! [`Fenced`]: a store for the worker that has a run.

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::Actor;
use async_trait::async_trait;
use serde_json::Value;

use crate::{
    checkpoint::{Checkpoint, CheckpointStore, NewCheckpoint, RunKey},
    error::{SessionError, SessionErrorKind},
    hold::{Hold, HoldGuard},
    journal::{Entry, Journal, Record},
    lease::Fence,
    session::{Approval, Commit, Committed, NewSession, Session, SessionEvents, SessionWriter, StoreLayer},
};

/// A store that writes only while the lease of a run holds: it adds the [`Fence`] of the lease to all commits, events and
/// checkpoints, in whatever session of the tenant.
///
/// Give it to whatever works on a run, such as an agent, a flow, and the agents that these ask. Then none of them can write once
/// another worker may have the run, and their code does not know of leases.
///
/// A [hold](SessionWriter::hold) keeps away those who drive a session without a lease, and other handles under the same lease. It
/// does not keep the next worker away: the process that has lost its lease may be stopped and unable to release anything, and the
/// fence keeps it from writing.
///
/// A process may be stopped between a write that succeeds and what it does next, for longer than the lease. Set
/// [`with_deadline`](Self::with_deadline), so that a write fails as well if the lease has ended when its answer arrives.
///
/// Not checked are the operations that belong to no run: creating and renaming sessions, answers of users, journals and removals.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::SystemClock;
/// use agcore_session::{
///     ClaimRequest, Commit, Fenced, InMemorySessionStore, NewSession, Record, Release, ReleaseReason, RunChange, RunLeases,
///     RunStatus, SessionErrorKind, SessionWriter, Timestamp,
/// };
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
/// store.create(NewSession::new("tea")).await?;
/// store.commit("local", "tea", 0, Commit::new().with_run(RunChange::new("r1", RunStatus::Queued))).await?;
/// let lease = store.claim(&ClaimRequest::new("a random id", "worker 1")).await?.leases.remove(0);
///
/// let fenced = Fenced::new(Arc::clone(&store), lease.fence());
/// let step = || Commit::new().with_record(Record::new("step", 1, Timestamp::default(), json!({})));
/// assert_eq!(fenced.commit("local", "tea", 0, step()).await?.end, 1);
///
/// store.release(&lease, Release::new(ReleaseReason::GivenBack)).await?;
/// let late = fenced.commit("local", "tea", 1, step()).await.unwrap_err();
/// assert_eq!(late.kind(), SessionErrorKind::Fenced);
/// # Ok::<(), agcore_session::SessionError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Fenced<S> {
    store: S,
    fence: Fence,
    is_over: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    /// The names that are held through this store and its clones.
    in_use: Names,
}

/// The right to drive a session under a lease.
struct UnderLease {
    /// Keeps those away who drive it without a lease.
    shared: Hold,
    /// Keeps other handles under the same lease away, which are all in this process.
    _alone: InUse,
}

impl HoldGuard for UnderLease {
    fn is_lost(&self) -> bool {
        self.shared.is_lost()
    }
}

/// The names that are held under a lease.
type Names = Arc<Mutex<HashSet<String>>>;

/// A name that is held under a lease, until this is dropped.
struct InUse {
    names: Names,
    name: String,
}

impl InUse {
    fn begin(names: &Names, name: &str) -> Result<Self, SessionError> {
        match lock(names).insert(name.to_owned()) {
            true => Ok(Self {
                names: Arc::clone(names),
                name: name.to_owned(),
            }),
            false => Err(SessionError::new(
                SessionErrorKind::Held,
                format!("`{name}` is held by another handle of the same run; wait until its turn has ended"),
            )),
        }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        lock(&self.names).remove(&self.name);
    }
}

fn lock(names: &Names) -> MutexGuard<'_, HashSet<String>> {
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S> Fenced<S> {
    /// Creates a store that writes under a lease. A fence that a commit has already is replaced.
    pub fn new(store: S, fence: Fence) -> Self {
        Self {
            store,
            fence,
            is_over: None,
            in_use: Names::default(),
        }
    }

    /// Sets a function that returns whether the lease has ended by the process's own clocks. It is called before each write, which
    /// does not take place if it returns `true`, and after each write that succeeds. If it returns `true` then, the write fails
    /// with [`SessionErrorKind::Fenced`] as well; it took place, but nothing may follow it.
    #[must_use]
    pub fn with_deadline(mut self, is_over: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.is_over = Some(Arc::new(is_over));
        self
    }

    /// Returns whether the lease has ended by the process's own clocks.
    fn is_over(&self) -> bool {
        self.is_over.as_ref().is_some_and(|is_over| is_over())
    }

    /// Checks that the process may still write.
    fn check(&self) -> Result<(), SessionError> {
        match self.is_over() {
            true => Err(ended()),
            false => Ok(()),
        }
    }

    /// Returns what was written, if the process may continue.
    fn in_time<T>(&self, written: T) -> Result<T, SessionError> {
        match self.is_over() {
            true => Err(SessionError::new(
                SessionErrorKind::Fenced,
                "the lease of the run ended before the answer of the store arrived; another worker may have the run",
            )),
            false => Ok(written),
        }
    }

    /// Returns the fence.
    pub const fn fence(&self) -> &Fence {
        &self.fence
    }
}

/// Returns the error of a write after the end of the lease.
fn ended() -> SessionError {
    let reason = "the lease of the run has ended; another worker may have the run";
    SessionError::new(SessionErrorKind::Fenced, reason)
}

impl<S> StoreLayer for Fenced<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        &self.store
    }
}

#[async_trait]
impl<S: SessionWriter> SessionWriter for Fenced<S> {
    async fn create(&self, session: NewSession) -> Result<Session, SessionError> {
        self.store.create(session).await
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        commit: Commit,
    ) -> Result<Committed, SessionError> {
        self.check()?;
        let commit = commit.with_fence(self.fence.clone());
        self.in_time(self.store.commit(tenant, session, expected, commit).await?)
    }

    async fn commit_events(&self, batch: Vec<SessionEvents>) -> Vec<Result<Committed, SessionError>> {
        if self.is_over() {
            return batch.iter().map(|_| Err(ended())).collect();
        }
        let batch = batch.into_iter().map(|events| events.with_fence(self.fence.clone()));
        self.store.commit_events(batch.collect()).await
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError> {
        self.store.rename(tenant, session, title).await
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, SessionError> {
        self.store.answer(tenant, session, question, answer, by).await
    }

    async fn hold(&self, name: &str) -> Result<Hold, SessionError> {
        let shared = self.store.hold_shared(name).await?;
        let alone = InUse::begin(&self.in_use, name)?;
        Ok(Hold::new(UnderLease { shared, _alone: alone }))
    }

    async fn hold_shared(&self, name: &str) -> Result<Hold, SessionError> {
        self.store.hold_shared(name).await
    }
}

#[async_trait]
impl<S: CheckpointStore> CheckpointStore for Fenced<S> {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError> {
        self.check()?;
        let run = run.with_fence(&self.fence);
        self.in_time(self.store.save_checkpoint(run, expected, checkpoint).await?)
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        self.store.latest_checkpoints(run).await
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        self.store.checkpoints(run, from).await
    }

    async fn checkpoints_at(&self, run: RunKey<'_>, seq: u64) -> Result<Vec<Checkpoint>, SessionError> {
        self.store.checkpoints_at(run, seq).await
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        self.check()?;
        let run = run.with_fence(&self.fence);
        self.store.trim_checkpoints(run, before).await
    }
}

#[async_trait]
impl<S: Journal> Journal for Fenced<S> {
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

impl<S> fmt::Debug for Fenced<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fenced")
            .field("fence", &self.fence)
            .finish_non_exhaustive()
    }
}
