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
    turns: Arc<Turns>,
}

/// The permit of one turn, returned when dropped.
pub(crate) struct TurnPermit<T> {
    pub(crate) value: OwnedMutexGuard<T>,
    /// The turn's own token, also cancelled by a turn that interrupts it.
    pub(crate) token: CancellationToken,
    _entry: Entry,
    _running: OwnedMutexGuard<()>,
}

/// The turns that run or wait.
#[derive(Default)]
struct Turns(StdMutex<TurnList>);

#[derive(Default)]
struct TurnList {
    next: u64,
    turns: Vec<Turn>,
}

struct Turn {
    number: u64,
    token: CancellationToken,
    runs: bool,
}

/// The entry of a turn in the list, removed when dropped.
struct Entry {
    turns: Arc<Turns>,
    number: u64,
}

impl Turns {
    fn lock(&self) -> MutexGuard<'_, TurnList> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a turn that waits. If it `interrupts`, all before it are cancelled.
    fn add(self: &Arc<Self>, token: CancellationToken, interrupts: bool) -> Entry {
        let mut list = self.lock();
        if interrupts {
            list.turns.iter().for_each(|turn| turn.token.cancel());
        }
        let number = list.next;
        list.next += 1;
        list.turns.push(Turn {
            number,
            token,
            runs: false,
        });
        Entry {
            turns: Arc::clone(self),
            number,
        }
    }

    fn cancel_running(&self) {
        let list = self.lock();
        let running = list.turns.iter().filter(|turn| turn.runs);
        running.for_each(|turn| turn.token.cancel());
    }
}

impl Entry {
    fn start(&self) {
        let mut list = self.turns.lock();
        if let Some(turn) = list.turns.iter_mut().find(|turn| turn.number == self.number) {
            turn.runs = true;
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.turns.lock().turns.retain(|turn| turn.number != self.number);
    }
}

impl<T> TurnQueue<T> {
    pub(crate) fn new(value: T, policy: BusyPolicy) -> Self {
        Self {
            value: Arc::new(Mutex::new(value)),
            running: Arc::default(),
            policy,
            turns: Arc::default(),
        }
    }

    /// Acquires the permit for a turn, according to the policy. `token` is the turn's own: a turn that interrupts it cancels
    /// it. A turn that `resumes` interrupts nothing. Cancel safe: a turn that is dropped while it waits leaves the queue.
    pub(crate) async fn acquire(&self, token: CancellationToken, resumes: bool) -> Result<TurnPermit<T>, AgentError> {
        let (entry, running) = match self.policy {
            BusyPolicy::Refuse => {
                let running = Arc::clone(&self.running).try_lock_owned();
                let running = running.map_err(|_| AgentError::busy())?;
                (self.turns.add(token.clone(), false), running)
            }
            BusyPolicy::Queue | BusyPolicy::Interrupt => {
                let interrupts = self.policy == BusyPolicy::Interrupt && !resumes;
                let entry = self.turns.add(token.clone(), interrupts);
                (entry, wait(&self.running, &token).await?)
            }
        };
        entry.start();
        let value = wait(&self.value, &token).await?;
        Ok(TurnPermit {
            value,
            token,
            _entry: entry,
            _running: running,
        })
    }

    /// Cancels the running turn, if any.
    pub(crate) fn cancel(&self) {
        self.turns.cancel_running();
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
