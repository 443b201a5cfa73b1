//! [`Active`]: the runs that this process executes, and the streams that are open.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::Actor;

use crate::{
    lease::HeldLease,
    log::RunLog,
    problem::{Problem, ProblemCode},
    run::RunJob,
    settings::Limits,
};

/// The runs that this process executes, and the streams that are open.
///
/// The limits of streams are checked in the same step in which space is taken: requests that arrive at the same time cannot all see
/// the last free place. Those of runs are checked by the store, for all processes.
#[derive(Default)]
pub(crate) struct Active(Mutex<State>);

#[derive(Default)]
struct State {
    runs: HashMap<RunJob, Arc<RunLog>>,
    streams: HashMap<Actor, usize>,
}

impl std::fmt::Debug for Active {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Active").finish_non_exhaustive()
    }
}

impl Active {
    pub(super) fn insert(&self, log: Arc<RunLog>) {
        self.state().runs.insert(log.job.clone(), log);
    }

    /// Removes a run, unless it was claimed again and has another log by now.
    pub(super) fn remove(&self, log: &Arc<RunLog>) {
        let mut state = self.state();
        if state.runs.get(&log.job).is_some_and(|known| Arc::ptr_eq(known, log)) {
            state.runs.remove(&log.job);
        }
    }

    pub(super) fn get(&self, job: &RunJob) -> Option<Arc<RunLog>> {
        self.state().runs.get(job).cloned()
    }

    /// Returns the runs with their leases.
    pub(super) fn leased(&self) -> Vec<(Arc<RunLog>, Arc<HeldLease>)> {
        let state = self.state();
        let leased = state.runs.values();
        let leased = leased.filter_map(|log| Some((Arc::clone(log), log.lease.clone()?)));
        leased.collect()
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
