//! [`Active`]: the runs of this process that wait or run, and the streams that are open.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::Actor;

use crate::{
    log::RunLog,
    problem::{Problem, ProblemCode},
    run::RunJob,
    settings::Limits,
};

/// The runs of this process that wait or run, and the streams that are open.
///
/// All limits are checked here, each in the same step in which space is taken: requests that arrive at the same time cannot all see
/// the last free place.
#[derive(Default)]
pub(crate) struct Active(Mutex<State>);

#[derive(Default)]
struct State {
    runs: HashMap<RunJob, Arc<RunLog>>,
    /// The runs that are about to be stored.
    reserved: HashSet<RunJob>,
    streams: HashMap<Actor, usize>,
}

/// The place of a run that is about to be stored. It is released when this is dropped, unless the run was inserted.
#[derive(Debug)]
pub(super) struct RunPlace<'a> {
    active: &'a Active,
    job: RunJob,
}

impl std::fmt::Debug for Active {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Active").finish_non_exhaustive()
    }
}

impl Active {
    /// Takes a place for a run.
    ///
    /// # Errors
    /// `queue_full` or `too_many_runs` if there is none for the server, the tenant or the user.
    pub(super) fn reserve(&self, job: &RunJob, limits: &Limits) -> Result<RunPlace<'_>, Problem> {
        let mut state = self.state();
        let (mut all, mut of_tenant, mut of_user) = (0, 0, 0);
        for other in state.runs.keys().chain(&state.reserved) {
            all += 1;
            of_tenant += usize::from(other.actor.tenant == job.actor.tenant);
            of_user += usize::from(other.actor == job.actor);
        }
        if of_user >= limits.max_runs_per_user {
            let detail = format!("{of_user} runs are active, which is the limit; wait until one has ended");
            return Err(Problem::new(ProblemCode::TooManyRuns, detail));
        }
        if all >= limits.max_runs {
            return Err(Problem::new(
                ProblemCode::QueueFull,
                crate::queue::QueueError::Full.to_string(),
            ));
        }
        if of_tenant >= limits.runs_per_tenant() {
            let detail = "the users of your tenant have as many active runs as allowed; try again when some have ended";
            return Err(Problem::new(ProblemCode::TooManyRuns, detail));
        }
        state.reserved.insert(job.clone());
        Ok(RunPlace {
            active: self,
            job: job.clone(),
        })
    }

    /// Inserts a run that an earlier process has accepted: there is always a place for it.
    pub(super) fn insert(&self, log: Arc<RunLog>) {
        self.state().runs.insert(log.job.clone(), log);
    }

    pub(super) fn remove(&self, job: &RunJob) {
        self.state().runs.remove(job);
    }

    pub(super) fn get(&self, job: &RunJob) -> Option<Arc<RunLog>> {
        self.state().runs.get(job).cloned()
    }

    /// Returns the number of runs.
    pub(crate) fn len(&self) -> usize {
        self.state().runs.len()
    }

    /// Returns the runs of a thread of a tenant.
    pub(super) fn of_thread(&self, tenant: &str, thread: &str) -> Vec<Arc<RunLog>> {
        let state = self.state();
        let runs = state.runs.values().filter(|log| log.job.session() == (tenant, thread));
        runs.cloned().collect()
    }

    /// Takes a place for a stream, to be released with [`close_stream`](Self::close_stream).
    ///
    /// # Errors
    /// `too_many_streams` if there is none for the tenant or the user.
    pub(super) fn open_stream(&self, actor: &Actor, limits: &Limits) -> Result<(), Problem> {
        let mut state = self.state();
        let of_user = state.streams.get(actor).copied().unwrap_or_default();
        if of_user >= limits.max_streams_per_user {
            let detail = format!("{of_user} streams are open, which is the limit; close one of them");
            return Err(Problem::new(ProblemCode::TooManyStreams, detail));
        }
        let of_tenant = state.streams.iter().filter(|(other, _)| other.tenant == actor.tenant);
        if of_tenant.map(|(_, open)| open).sum::<usize>() >= limits.streams_per_tenant() {
            let detail =
                "the users of your tenant have as many open streams as allowed; try again when some are closed";
            return Err(Problem::new(ProblemCode::TooManyStreams, detail));
        }
        state.streams.insert(actor.clone(), of_user + 1);
        Ok(())
    }

    pub(super) fn close_stream(&self, actor: &Actor) {
        let mut state = self.state();
        if let Some(open) = state.streams.get_mut(actor) {
            *open -= 1;
            if *open == 0 {
                state.streams.remove(actor);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunPlace<'_> {
    /// Gives the place to the run, which is stored now.
    pub(super) fn insert(self, log: Arc<RunLog>) {
        self.active.insert(log);
    }
}

impl Drop for RunPlace<'_> {
    fn drop(&mut self) {
        self.active.state().reserved.remove(&self.job);
    }
}
