//! [`TurnQueue`]: one turn at a time, and what happens to a second one.

use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use crate::{config::BusyPolicy, error::AgentError};

/// A value that one turn uses at a time.
pub(crate) struct TurnQueue<T> {
    value: Arc<Mutex<T>>,
    /// Held by the running turn. Readers of the value do not hold it, so they keep no turn waiting.
    running: Arc<Mutex<()>>,
    policy: BusyPolicy,
    /// Cancels the running turn; under [`BusyPolicy::Interrupt`] the newest one, which has cancelled all before it.
    newest: StdMutex<Option<CancellationToken>>,
}

/// The permit of one turn, returned when dropped.
pub(crate) struct TurnPermit<T> {
    pub(crate) value: OwnedMutexGuard<T>,
    /// The turn's own token, also cancelled by a turn that interrupts it.
    pub(crate) token: CancellationToken,
    _running: OwnedMutexGuard<()>,
}

impl<T> TurnQueue<T> {
    pub(crate) fn new(value: T, policy: BusyPolicy) -> Self {
        Self {
            value: Arc::new(Mutex::new(value)),
            running: Arc::default(),
            policy,
            newest: StdMutex::default(),
        }
    }

    /// Acquires the permit for a turn, according to the policy. `token` is the turn's own: a turn that interrupts it cancels
    /// it. Cancel safe: a turn that is dropped while it waits leaves the queue.
    pub(crate) async fn acquire(&self, token: CancellationToken) -> Result<TurnPermit<T>, AgentError> {
        let running = match self.policy {
            BusyPolicy::Refuse => Arc::clone(&self.running)
                .try_lock_owned()
                .map_err(|_| AgentError::busy())?,
            BusyPolicy::Queue => wait(&self.running, &token).await?,
            BusyPolicy::Interrupt => {
                if let Some(before) = self.set_newest(&token) {
                    before.cancel();
                }
                wait(&self.running, &token).await?
            }
        };
        if self.policy != BusyPolicy::Interrupt {
            self.set_newest(&token);
        }
        let value = wait(&self.value, &token).await?;
        Ok(TurnPermit {
            value,
            token,
            _running: running,
        })
    }

    /// Cancels the running turn, if any. The token of a turn that has ended does nothing.
    pub(crate) fn cancel(&self) {
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

    /// Reads the value after the running turn.
    pub(crate) async fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        read(&*self.value.lock().await)
    }

    /// Changes the value after the running turn.
    pub(crate) async fn write<R>(&self, write: impl FnOnce(&mut T) -> R) -> R {
        write(&mut *self.value.lock().await)
    }
}

async fn wait<V>(mutex: &Arc<Mutex<V>>, token: &CancellationToken) -> Result<OwnedMutexGuard<V>, AgentError> {
    tokio::select! {
        biased;
        () = token.cancelled() => Err(AgentError::cancelled()),
        guard = Arc::clone(mutex).lock_owned() => Ok(guard),
    }
}
