//! [`Checkpoints`]: where a run is saved.

mod delta;
pub(crate) mod document;
mod size;
mod restore;
pub(crate) mod writer;

use std::{fmt, sync::Arc};

use agcore_chat::Actor;
use agcore_session::{
    CheckpointStore, Commit, NewSession, RunChange, RunFilter, RunKey, RunStatus, SessionErrorKind, SessionStore,
};

use crate::{error::FlowError, record::Record};

pub(crate) use restore::Restored;

/// Where a run is saved: a run of a session in a store.
///
/// After each node, the store receives what has changed, and now and then the whole state, so that checkpoints grow with what
/// changes.
#[derive(Clone)]
pub struct Checkpoints {
    store: Arc<dyn CheckpointStore>,
    tenant: Arc<str>,
    session: Arc<str>,
    run: Arc<str>,
}

impl Checkpoints {
    /// Uses a run that exists in the store.
    pub fn new(
        store: Arc<dyn CheckpointStore>,
        tenant: impl Into<Arc<str>>,
        session: impl Into<Arc<str>>,
        run: impl Into<Arc<str>>,
    ) -> Self {
        Self {
            store,
            tenant: tenant.into(),
            session: session.into(),
            run: run.into(),
        }
    }

    /// Uses a run, and creates it and its session if they do not exist.
    ///
    /// Cancel safe: if the future is dropped, the session or the run may exist already.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn create<T: SessionStore + CheckpointStore + 'static>(
        store: Arc<T>,
        owner: &Actor,
        session: &str,
        run: &str,
    ) -> Result<Self, FlowError> {
        let checkpoints: Arc<dyn CheckpointStore> = Arc::clone(&store) as _;
        Self::create_in(&*store, checkpoints, owner, session, run).await
    }

    /// Does the same as [`create`](Self::create) with a store whose type is not known: both must be the same.
    ///
    /// Cancel safe: if the future is dropped, the session or the run may exist already.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn create_in(
        store: &dyn SessionStore,
        checkpoints: Arc<dyn CheckpointStore>,
        owner: &Actor,
        session: &str,
        run: &str,
    ) -> Result<Self, FlowError> {
        let tenant = owner.tenant.as_str();
        let known = match store.get_session(tenant, session).await? {
            Some(known) => known,
            None => match store.create(NewSession::new(session).with_owner(owner.clone())).await {
                Ok(created) => created,
                // Another process was faster.
                Err(error) if error.kind() == SessionErrorKind::AlreadyExists => {
                    let found = store.get_session(tenant, session).await?;
                    found.ok_or(error)?
                }
                Err(error) => return Err(error.into()),
            },
        };
        let known_runs = store.runs(tenant, session, &RunFilter::new().with_id(run)).await?;
        if known_runs.is_empty() {
            let begin = Commit::new().with_run(RunChange::new(run, RunStatus::Running));
            store.commit(tenant, session, known.end, begin).await?;
        }
        let (tenant, session, run) = (Arc::from(tenant), Arc::from(session), Arc::from(run));
        Ok(Self {
            store: checkpoints,
            tenant,
            session,
            run,
        })
    }

    /// Returns the records of all nodes that have finished, in order: the path of the run.
    ///
    /// # Errors
    /// When the store fails, or a checkpoint is damaged.
    pub async fn records(&self) -> Result<Vec<Record>, FlowError> {
        let all = self.store.checkpoints(self.key(), 0).await?;
        restore::records(all)
    }

    /// Returns the number of the last checkpoint; 0 if there is none.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn last(&self) -> Result<u64, FlowError> {
        let latest = self.store.latest_checkpoints(self.key()).await?;
        Ok(latest.last().map_or(0, |last| last.seq))
    }

    /// Returns whether the run has ended, so that resuming it returns its result and runs nothing.
    ///
    /// # Errors
    /// When the store fails, or a checkpoint is damaged.
    pub async fn has_ended(&self) -> Result<bool, FlowError> {
        let restored = self.load().await?;
        Ok(restored.is_some_and(|restored| restored.has_ended()))
    }

    pub(crate) fn store(&self) -> &dyn CheckpointStore {
        &*self.store
    }

    pub(crate) fn key(&self) -> RunKey<'_> {
        RunKey::new(&self.tenant, &self.session, &self.run)
    }

    /// Reads the last state of the run; `None` if it has no checkpoint.
    pub(crate) async fn load(&self) -> Result<Option<Restored>, FlowError> {
        let latest = self.store.latest_checkpoints(self.key()).await?;
        restore::restore(latest)
    }

    /// Reads the state at a checkpoint.
    pub(crate) async fn load_at(&self, seq: u64) -> Result<Option<Restored>, FlowError> {
        let needed = self.store.checkpoints_at(self.key(), seq).await?;
        restore::restore(needed)
    }
}

impl fmt::Debug for Checkpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoints")
            .field("tenant", &self.tenant)
            .field("session", &self.session)
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}
