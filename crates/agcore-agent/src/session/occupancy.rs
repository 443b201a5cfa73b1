//! [`Occupancy`]: one turn at a time, and what happens to a second one.

use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use crate::{config::BusyPolicy, error::AgentError};

/// Something that one turn uses at a time.
pub(super) struct Occupancy<T> {
    value: Arc<Mutex<T>>,
    policy: BusyPolicy,
    /// Cancels the turn that runs.
    running: Arc<StdMutex<Option<CancellationToken>>>,
}

/// The right of one turn; given back when dropped.
pub(super) struct Occupied<T> {
    pub(super) value: OwnedMutexGuard<T>,
    /// Cancelled by the turn's own token, and by a turn that interrupts it.
    pub(super) token: CancellationToken,
    running: Arc<StdMutex<Option<CancellationToken>>>,
}

impl<T> Occupancy<T> {
    pub(super) fn new(value: T, policy: BusyPolicy) -> Self {
        Self {
            value: Arc::new(Mutex::new(value)),
            policy,
            running: Arc::default(),
        }
    }

    /// Takes the right for a turn, after the policy. Cancel safe: a turn that waits in the queue gives its place up.
    pub(super) async fn occupy(&self, token: &CancellationToken) -> Result<Occupied<T>, AgentError> {
        let value = match self.policy {
            BusyPolicy::Refuse => Arc::clone(&self.value).try_lock_owned().map_err(|_| AgentError::Busy)?,
            BusyPolicy::Queue => self.wait(token).await?,
            BusyPolicy::Interrupt => {
                self.cancel();
                self.wait(token).await?
            }
        };
        let token = token.child_token();
        *lock(&self.running) = Some(token.clone());
        Ok(Occupied {
            value,
            token,
            running: Arc::clone(&self.running),
        })
    }

    async fn wait(&self, token: &CancellationToken) -> Result<OwnedMutexGuard<T>, AgentError> {
        tokio::select! {
            biased;
            () = token.cancelled() => Err(agcore_llm::LlmError::cancelled().into()),
            value = Arc::clone(&self.value).lock_owned() => Ok(value),
        }
    }

    /// Cancels the turn that runs, if any.
    pub(super) fn cancel(&self) {
        if let Some(token) = &*lock(&self.running) {
            token.cancel();
        }
    }

    /// Reads, after the turn that runs.
    pub(super) async fn look<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        read(&*self.value.lock().await)
    }

    /// Changes, after the turn that runs.
    pub(super) async fn change<R>(&self, write: impl FnOnce(&mut T) -> R) -> R {
        write(&mut *self.value.lock().await)
    }
}

impl<T> Drop for Occupied<T> {
    fn drop(&mut self) {
        *lock(&self.running) = None;
    }
}

fn lock<T>(mutex: &StdMutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
