//! [`Lanes`]: the runs of each thread, one after the other.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::run::RunJob;

/// The runs of each thread, in the order in which they are executed.
///
/// A run that starts with a message is held while an earlier run of its thread waits for a person. The run that continues with the
/// answer overtakes it.
#[derive(Debug, Default)]
pub(crate) struct Lanes(Mutex<HashMap<LaneKey, Lane>>);

/// The tenant and the thread of a lane.
pub(super) type LaneKey = (String, String);

#[derive(Debug, Default)]
struct Lane {
    /// Whether a task executes the jobs.
    is_executed: bool,
    waiting: VecDeque<RunJob>,
    held: VecDeque<RunJob>,
    /// How often jobs were released: what held them before may be gone since then.
    releases: u64,
}

/// Returns the lane of a job.
pub(super) fn lane_of(job: &RunJob) -> LaneKey {
    let (tenant, thread) = job.session();
    (tenant.to_owned(), thread.to_owned())
}

impl Lanes {
    /// Adds a job. Returns whether the caller must have the lane executed.
    pub(super) fn add(&self, job: RunJob) -> bool {
        let mut lanes = self.lanes();
        let lane = lanes.entry(lane_of(&job)).or_default();
        lane.waiting.push_back(job);
        !std::mem::replace(&mut lane.is_executed, true)
    }

    /// Returns the next job of a lane, with the number of releases until now. Without one, the lane is not executed any more.
    pub(super) fn next(&self, key: &LaneKey) -> Option<(RunJob, u64)> {
        let mut lanes = self.lanes();
        let lane = lanes.get_mut(key)?;
        if let Some(job) = lane.waiting.pop_front() {
            return Some((job, lane.releases));
        }
        lane.is_executed = false;
        if lane.held.is_empty() {
            lanes.remove(key);
        }
        None
    }

    /// Holds a job of a lane that is executed, unless jobs were released since it was taken.
    pub(super) fn hold(&self, job: RunJob, releases: u64) {
        let mut lanes = self.lanes();
        let lane = lanes.entry(lane_of(&job)).or_default();
        match lane.releases == releases {
            true => lane.held.push_back(job),
            false => lane.waiting.push_front(job),
        }
    }

    /// Has held jobs tried again, before those that came later. Returns whether the caller must have the lane executed.
    pub(super) fn release(&self, key: &LaneKey) -> bool {
        let mut lanes = self.lanes();
        let Some(lane) = lanes.get_mut(key) else { return false };
        lane.releases += 1;
        while let Some(job) = lane.held.pop_back() {
            lane.waiting.push_front(job);
        }
        !lane.waiting.is_empty() && !std::mem::replace(&mut lane.is_executed, true)
    }

    /// Returns the lanes with held jobs.
    pub(super) fn holding(&self) -> Vec<LaneKey> {
        let lanes = self.lanes();
        let holding = lanes.iter().filter(|(_, lane)| !lane.held.is_empty());
        holding.map(|(key, _)| key.clone()).collect()
    }

    /// Returns the number of held jobs.
    pub(crate) fn held(&self) -> usize {
        self.lanes().values().map(|lane| lane.held.len()).sum()
    }

    fn lanes(&self) -> MutexGuard<'_, HashMap<LaneKey, Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::Actor;

    use super::*;

    fn job(run: &str) -> RunJob {
        RunJob::new(Actor::local(), "t", run)
    }

    #[test]
    fn held_jobs_are_overtaken_and_keep_their_order() {
        let (lanes, key) = (Lanes::default(), lane_of(&job("a")));
        assert!(lanes.add(job("a")) && !lanes.add(job("b")));
        for name in ["a", "b"] {
            let (held, releases) = lanes.next(&key).unwrap();
            assert_eq!(held, job(name));
            lanes.hold(held, releases);
        }
        assert_eq!((lanes.next(&key), lanes.held(), lanes.holding().len()), (None, 2, 1));
        assert!(lanes.add(job("answer")));
        assert_eq!(lanes.next(&key).unwrap().0, job("answer"));
        assert!(!lanes.release(&key), "the lane is executed already");
        for name in ["a", "b"] {
            assert_eq!(lanes.next(&key).unwrap().0, job(name));
        }
        assert_eq!((lanes.next(&key), lanes.held()), (None, 0));
    }

    #[test]
    fn a_job_is_not_held_for_a_reason_that_is_gone() {
        let (lanes, key) = (Lanes::default(), lane_of(&job("a")));
        lanes.add(job("a"));
        let (taken, releases) = lanes.next(&key).unwrap();
        lanes.release(&key);
        lanes.hold(taken, releases);
        assert_eq!(
            (lanes.held(), lanes.next(&key).map(|(job, _)| job)),
            (0, Some(job("a")))
        );
        assert!(lanes.next(&key).is_none() && !lanes.release(&key));
    }
}
