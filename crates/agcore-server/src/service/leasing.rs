//! [`Leasing`]: the leases of the runs that this process executes, alone or with others.

mod claims;
mod renewals;
mod followed;

pub(super) use self::followed::Followed;

use std::{sync::Arc, time::Duration};

use agcore_chat::Actor;
use agcore_session::{CancelRequest, Hold, RunLeases, SessionError, SessionErrorKind, SessionStore, id, stream_of};
use tokio::sync::{Notify, Semaphore};

use super::state::Service;
use crate::{
    problem::{Problem, ProblemCode},
    run::RunJob,
    settings::{BusyPolicy, Limits, Unfinished},
    sharing::Sharing,
};

/// How much rarer the looks for runs become while none is found.
const IDLE: u32 = 4;

/// The pause between two looks for runs in a process that has the store for itself.
const ALONE: Duration = Duration::from_secs(30);

/// The number of times a request looks whether other processes have finished what they do with its thread.
const LOOKS: u32 = 200;

/// The runs of the store: how this process gets and keeps its leases, and what its users follow.
pub(crate) struct Leasing {
    leases: Arc<dyn RunLeases>,
    settings: Sharing,
    /// Whether other processes use the store as well.
    is_shared: bool,
    followed: Followed,
    /// The runs that this process may execute besides those that it does.
    slots: Arc<Semaphore>,
    /// Notified when there may be a run to claim and a slot for it.
    wake: Notify,
}

impl Leasing {
    /// Has the store for this process alone, or shares its runs.
    pub(crate) fn new(store: Arc<dyn SessionStore>, sharing: Option<Sharing>, limits: &Limits) -> Self {
        let is_shared = sharing.is_some();
        let settings = sharing.unwrap_or_else(|| Sharing::new("server").with_slots(limits.max_runs));
        Self {
            leases: settings.leases.clone().unwrap_or(store),
            is_shared,
            followed: Followed::default(),
            slots: Arc::new(Semaphore::new(settings.slots.min(Semaphore::MAX_PERMITS))),
            settings,
            wake: Notify::new(),
        }
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns whether this process executes runs.
    pub(crate) fn works(&self) -> bool {
        self.settings.role.works()
    }

    /// Returns the longest pause between two looks for runs while none is found.
    fn idle_pause(&self) -> Duration {
        match self.is_shared {
            true => self.settings.poll * IDLE,
            // All that can be found was stored by this process, which wakes itself.
            false => ALONE,
        }
    }

    /// Has this process look for runs at once.
    pub(super) fn wake(&self) {
        self.wake.notify_one();
    }
}

impl Service {
    /// Takes the runs that an earlier process has left, if this process has the store for itself. Returns their number.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn take_over(&self, unfinished: Unfinished) -> Result<u64, SessionError> {
        match self.leasing.is_shared {
            true => Ok(0),
            false => self.leasing.leases.take_over(unfinished == Unfinished::Cancel).await,
        }
    }

    /// Has the runs of a thread tried again that wait for an answer, or for the run with the answer.
    pub(super) async fn end_delays(&self, tenant: &str, thread: &str) {
        if self.busy != BusyPolicy::Queue {
            return;
        }
        match self.leasing.leases.end_delays(tenant, thread).await {
            Ok(0) => {}
            Ok(_) => self.leasing.wake(),
            Err(error) => tracing::warn!(?error, "runs that wait begin later"),
        }
    }

    /// Has a run cancelled by the process that executes it, or by the next one that claims it. The wish is stored.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn request_cancel(&self, job: &RunJob) -> Result<(), SessionError> {
        let (tenant, thread) = job.session();
        let found = self.leasing.leases.request_cancel(tenant, thread, &job.run).await?;
        if found == CancelRequest::Over {
            return Ok(());
        }
        match self.active.get(job) {
            Some(log) => {
                log.feed.request_cancel();
                log.token.cancel();
            }
            None => self.leasing.wake(),
        }
        Ok(())
    }

    /// Takes the right to change which runs a thread has, which one request of all processes has at a time. A process with a store
    /// of its own needs none.
    ///
    /// # Errors
    /// `session_busy` if other requests keep it for too long, and errors of the store.
    pub(super) async fn admission_to(&self, actor: &Actor, thread: &str) -> Result<Hold, Problem> {
        if !self.leasing.is_shared {
            return Ok(Hold::granted());
        }
        let name = id::join(["admission", &actor.tenant, thread]);
        for _ in 0..LOOKS {
            match self.store().hold(&name).await {
                Err(error) if error.kind() == SessionErrorKind::Held => {
                    self.clock.sleep(Duration::from_millis(25)).await;
                }
                result => return Ok(result?),
            }
        }
        let detail = "other requests for this thread are not finished; try again";
        Err(Problem::new(ProblemCode::SessionBusy, detail))
    }

    /// Takes the right to drive a session: alone, or together with the other processes that share its runs, of which the lease
    /// allows one to write.
    pub(super) async fn hold_of_session(&self, tenant: &str, thread: &str) -> Result<Hold, SessionError> {
        let name = stream_of(tenant, thread);
        match self.leasing.is_shared {
            true => self.store().hold_shared(&name).await,
            false => self.store().hold(&name).await,
        }
    }
}
