//! [`LocalQueue`]: the runs of one process.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use tokio::sync::Notify;

use super::{QueueError, RunQueue};
use crate::run::RunJob;

/// A queue in the memory of the process. Runs that are lost with the process are found again in the database.
///
/// ```
/// use agcore_chat::Actor;
/// use agcore_server::{LocalQueue, QueueError, RunJob, RunQueue};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let queue = LocalQueue::new(1);
/// let job = RunJob::new(Actor::local(), "thread-1", "run-1");
/// queue.push(job.clone()).await?;
/// assert_eq!(queue.push(job.clone()).await, Err(QueueError::Full));
///
/// let next = queue.next().await.unwrap();
/// queue.done(&next).await;
/// assert!(queue.is_empty());
/// # Ok::<(), QueueError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct LocalQueue {
    capacity: usize,
    jobs: Mutex<Jobs>,
    added: Notify,
}

#[derive(Debug, Default)]
struct Jobs {
    waiting: VecDeque<RunJob>,
    unfinished: usize,
}

impl LocalQueue {
    /// Creates a queue with space for this many runs that wait or run.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            jobs: Mutex::default(),
            added: Notify::new(),
        }
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl RunQueue for LocalQueue {
    async fn push(&self, job: RunJob) -> Result<(), QueueError> {
        {
            let mut jobs = self.jobs();
            if jobs.unfinished >= self.capacity {
                return Err(QueueError::Full);
            }
            jobs.unfinished += 1;
            jobs.waiting.push_back(job);
        }
        self.added.notify_one();
        Ok(())
    }

    async fn next(&self) -> Option<RunJob> {
        loop {
            let added = self.added.notified();
            if let Some(job) = self.jobs().waiting.pop_front() {
                return Some(job);
            }
            added.await;
        }
    }

    async fn done(&self, _job: &RunJob) {
        let mut jobs = self.jobs();
        jobs.unfinished = jobs.unfinished.saturating_sub(1);
    }

    fn len(&self) -> usize {
        self.jobs().unfinished
    }
}
