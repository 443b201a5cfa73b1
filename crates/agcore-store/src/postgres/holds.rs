//! [`Holds`]: advisory locks on a connection of their own.
//!
//! PostgreSQL releases them when the connection ends, however its process ends. A hold is two locks: one by the hash of its name,
//! which excludes others, or those who want it alone if it is shared, and one whose second half is the time, so that others can see
//! since when it is held. The name of the connection identifies who has it.

mod held;
mod keeper;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use agcore_chat::Timestamp;
use agcore_session::{Hold, HoldGuard};
use tokio::{
    sync::{mpsc, oneshot},
    time::sleep,
};

use self::{
    held::Lock,
    keeper::{Job, Keeper, Refusal},
};
use super::{connection::options::PostgresOptions, error::closed};
use crate::{
    error::StoreError,
    sql::{HoldForm, hold_key},
};

/// The number of attempts to take a hold that another one has, and the pause between them: that one may only have checked it, or be
/// about to end.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(25);

/// The holds of a store. A task keeps their connection.
#[derive(Debug)]
pub(super) struct Holds {
    options: PostgresOptions,
    jobs: Mutex<Option<mpsc::UnboundedSender<Job>>>,
}

/// Releases a hold.
struct Guard {
    jobs: mpsc::UnboundedSender<Job>,
    lock: Lock,
}

impl Holds {
    pub(super) fn new(options: PostgresOptions) -> Self {
        Self {
            options,
            jobs: Mutex::default(),
        }
    }

    /// Takes a hold if no other holder excludes that.
    ///
    /// # Errors
    /// When another one has it, or the server cannot be used.
    pub(super) async fn take(&self, name: &str, form: HoldForm, now: Timestamp) -> Result<Hold, StoreError> {
        let hash = hold_key(&self.options.schema, name);
        let mut key = [0; 8];
        key.copy_from_slice(&hash[..8]);
        let key = i64::from_be_bytes(key);
        let mut attempt = 1;
        loop {
            let is_lost = Arc::new(AtomicBool::new(false));
            let lock = Lock {
                key,
                form,
                since: now,
                is_lost,
            };
            match self.try_take(name, lock).await {
                Err(refusal) if attempt < ATTEMPTS && refusal.is_elsewhere => {
                    attempt += 1;
                    sleep(PAUSE).await;
                }
                taken => return taken.map_err(|refusal| refusal.error),
            }
        }
    }

    async fn try_take(&self, name: &str, lock: Lock) -> Result<Hold, Refusal> {
        let (answer, taken) = oneshot::channel();
        let name = name.to_owned();
        let job = Job::Take {
            name,
            lock: lock.clone(),
            answer,
        };
        let guard = Guard {
            jobs: self.send(job),
            lock,
        };
        match taken.await {
            Ok(Ok(())) => Ok(Hold::new(guard)),
            other => {
                // There is nothing to release.
                guard.lock.is_lost.store(true, Ordering::Relaxed);
                other
                    .map_err(|_| closed("cannot lock a session"))?
                    .map(|()| Hold::granted())
            }
        }
    }

    /// Sends a job to the task, which is started if there is none.
    fn send(&self, job: Job) -> mpsc::UnboundedSender<Job> {
        let mut current = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let job = match &*current {
            Some(jobs) => match jobs.send(job) {
                Ok(()) => return jobs.clone(),
                // The runtime of the task has ended.
                Err(mpsc::error::SendError(job)) => job,
            },
            None => job,
        };
        let (jobs, received) = mpsc::unbounded_channel();
        let _ = jobs.send(job);
        tokio::spawn(Keeper::new(self.options.clone()).run(received));
        current.insert(jobs).clone()
    }

    /// Ends the task when the last hold is released.
    pub(super) fn close(&self) {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl HoldGuard for Guard {
    fn is_lost(&self) -> bool {
        self.lock.is_lost.load(Ordering::Relaxed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.is_lost() {
            // Without its task, the connection has ended, and with it the lock.
            let _ = self.jobs.send(Job::Release(self.lock.clone()));
        }
    }
}
