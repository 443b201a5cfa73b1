//! [`Active`]: the runs of this process that wait or run, and the streams that are open.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::Actor;

use crate::{
    log::RunLog,
    problem::{Problem, ProblemCode},
    run::RunJob,
};

/// The runs of this process that wait or run, and the streams that are open.
#[derive(Default)]
pub(crate) struct Active(Mutex<State>);

#[derive(Default)]
struct State {
    runs: HashMap<RunJob, Arc<RunLog>>,
    streams: HashMap<Actor, usize>,
}

/// The permission for one stream, which ends when it is dropped.
pub(crate) struct StreamPermit {
    service: Arc<super::Service>,
    actor: Actor,
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

    /// Returns the runs of a session.
    pub(crate) fn of_session(&self, actor: &Actor, thread: &str) -> Vec<Arc<RunLog>> {
        let state = self.state();
        let runs = state.runs.values();
        runs.filter(|log| log.job.session() == (&*actor.tenant, thread))
            .cloned()
            .collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl super::Service {
    /// Permits another stream.
    ///
    /// # Errors
    /// `too_many_streams` if the actor has as many as allowed.
    pub(crate) fn open_stream(self: &Arc<Self>, actor: &Actor) -> Result<StreamPermit, Problem> {
        let mut state = self.active.state();
        let open = state.streams.entry(actor.clone()).or_default();
        if *open >= self.limits.max_streams_per_user {
            let detail = format!("{open} streams are open, which is the limit; close one of them");
            return Err(Problem::new(ProblemCode::TooManyStreams, detail));
        }
        *open += 1;
        drop(state);
        self.metrics.streams.inc();
        Ok(StreamPermit {
            service: Arc::clone(self),
            actor: actor.clone(),
        })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        self.service.metrics.streams.dec();
        let mut state = self.service.active.state();
        if let Some(open) = state.streams.get_mut(&self.actor) {
            *open -= 1;
            if *open == 0 {
                state.streams.remove(&self.actor);
            }
        }
    }
}
