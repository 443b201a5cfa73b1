//! [`Active`]: the runs of this process that wait or run, and the streams that are open.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::Actor;

use crate::{log::RunLog, run::RunJob};

/// The runs of this process that wait or run, and the streams that are open.
#[derive(Default)]
pub(crate) struct Active(Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    runs: HashMap<RunJob, Arc<RunLog>>,
    pub(super) streams: HashMap<Actor, usize>,
}

impl Active {
    pub(crate) fn insert(&self, log: Arc<RunLog>) {
        self.state().runs.insert(log.job.clone(), log);
    }

    pub(crate) fn remove(&self, job: &RunJob) {
        self.state().runs.remove(job);
    }

    pub(crate) fn get(&self, job: &RunJob) -> Option<Arc<RunLog>> {
        self.state().runs.get(job).cloned()
    }

    /// Returns the number of runs.
    pub(crate) fn len(&self) -> usize {
        self.state().runs.len()
    }

    /// Returns the number of runs of an actor.
    pub(crate) fn of_actor(&self, actor: &Actor) -> usize {
        self.state().runs.keys().filter(|job| job.actor == *actor).count()
    }

    /// Returns the runs of a thread of a tenant.
    pub(crate) fn of_thread(&self, tenant: &str, thread: &str) -> Vec<Arc<RunLog>> {
        let state = self.state();
        let runs = state.runs.values().filter(|log| log.job.session() == (tenant, thread));
        runs.cloned().collect()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
