//! [`Occupancy`]: one turn at a time, and what happens to a second one.

use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use crate::{config::BusyPolicy, error::AgentError};

/// Something that one turn uses at a time.
pub(super) struct Occupancy<T> {
    value: Arc<Mutex<T>>,
    /// Held by the turn that runs: who only looks at the value keeps no turn away.
    turn: Arc<Mutex<()>>,
    policy: BusyPolicy,
    /// Cancels the turn that runs; under [`BusyPolicy::Interrupt`] the newest, which has cancelled all before it.
    newest: StdMutex<Option<CancellationToken>>,
}

/// The right of one turn; given back when dropped.
pub(super) struct Occupied<T> {
    pub(super) value: OwnedMutexGuard<T>,
    /// The turn's own; cancelled also by a turn that interrupts it.
    pub(super) token: CancellationToken,
    _turn: OwnedMutexGuard<()>,
}

impl<T> Occupancy<T> {
    pub(super) fn new(value: T, policy: BusyPolicy) -> Self {
        Self {
            value: Arc::new(Mutex::new(value)),
            turn: Arc::default(),
            policy,
            newest: StdMutex::default(),
        }
    }

    /// Takes the right for a turn, after the policy. Cancel safe: a turn that waits in the queue gives its place up.
    /// The token is the turn's own: a turn that interrupts it cancels it.
    pub(super) async fn occupy(&self, token: CancellationToken) -> Result<Occupied<T>, AgentError> {
        let turn = match self.policy {
            BusyPolicy::Refuse => Arc::clone(&self.turn).try_lock_owned().map_err(|_| AgentError::Busy)?,
            BusyPolicy::Queue => wait(&self.turn, &token).await?,
            BusyPolicy::Interrupt => {
                if let Some(before) = self.set_newest(&token) {
                    before.cancel();
                }
                wait(&self.turn, &token).await?
            }
        };
        if self.policy != BusyPolicy::Interrupt {
            self.set_newest(&token);
        }
        let value = wait(&self.value, &token).await?;
        Ok(Occupied {
            value,
            token,
            _turn: turn,
        })
    }

    /// Cancels the turn that runs, if any; the token of one that is over does nothing.
    pub(super) fn cancel(&self) {
        if let Some(token) = &*self.newest() {
            token.cancel();
        }
    }

    fn set_newest(&self, token: &CancellationToken) -> Option<CancellationToken> {
        self.newest().replace(token.clone())
    }

    fn newest(&self) -> MutexGuard<'_, Option<CancellationToken>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
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

async fn wait<V>(mutex: &Arc<Mutex<V>>, token: &CancellationToken) -> Result<OwnedMutexGuard<V>, AgentError> {
    tokio::select! {
        biased;
        () = token.cancelled() => Err(agcore_llm::LlmError::cancelled().into()),
        guard = Arc::clone(mutex).lock_owned() => Ok(guard),
    }
}
