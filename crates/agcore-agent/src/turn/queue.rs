//! [`TurnQueue`]: one turn at a time, and what happens to a second one.

use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex, Notify, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{BusyPolicy, OpenQuestionPolicy},
    error::AgentError,
};

/// A value that one turn uses at a time.
pub(crate) struct TurnQueue<T> {
    value: Arc<Mutex<T>>,
    /// Held by the running turn. Readers of the value do not hold it, so they keep no turn waiting.
    running: Arc<Mutex<()>>,
    busy: BusyPolicy,
    questions: OpenQuestionPolicy,
    turns: Arc<Turns>,
}

/// The purpose of a permit.
pub(crate) enum Purpose<'q, T> {
    /// A new turn. The function returns the error for open questions of the turn before it.
    Start(&'q (dyn Fn(&T) -> Option<AgentError> + Sync)),
    /// Answers to open questions.
    Resume,
    /// Anything else, which interrupts turns like a new one.
    Other,
}

/// The permit of one turn, returned when dropped.
pub(crate) struct TurnPermit<T> {
    pub(crate) value: OwnedMutexGuard<T>,
    /// The turn's own token, also cancelled by a turn that interrupts it.
    pub(crate) token: CancellationToken,
    entry: Entry,
    _running: OwnedMutexGuard<()>,
}

impl<T> TurnPermit<T> {
    /// Returns the permit, and keeps the turn in the list.
    fn give_back(self) -> Entry {
        self.entry.set_running(false);
        self.entry
    }
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
    /// Whether it is a new turn that has not started yet. New turns start in order.
    starts: bool,
    /// Notified of changes, if the turn waits for one.
    changes: Option<Arc<Notify>>,
}

impl TurnList {
    /// Wakes all turns that wait for a change: a turn has started or ended, or the value has changed otherwise.
    fn notify(&self) {
        let waiting = self.turns.iter().filter_map(|turn| turn.changes.as_ref());
        waiting.for_each(|changes| changes.notify_one());
    }
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
    fn add(self: &Arc<Self>, token: CancellationToken, interrupts: bool, starts: bool) -> Entry {
        let mut list = self.lock();
        if interrupts {
            list.turns.iter().for_each(|turn| turn.token.cancel());
        }
        let number = list.next;
        list.next += 1;
        // Most sessions have one turn at a time, and keep this space while they are idle.
        if list.turns.is_empty() {
            list.turns.reserve_exact(1);
        }
        list.turns.push(Turn {
            number,
            token,
            runs: false,
            starts,
            changes: None,
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
    fn set_running(&self, runs: bool) {
        self.turn(|turn| turn.runs = runs);
    }

    /// Records that the turn has started, so that the next one may.
    fn started(&self) {
        self.turn(|turn| turn.starts = false);
        self.turns.lock().notify();
    }

    /// Returns a handle that is notified of all changes from now on.
    fn changes(&self) -> Arc<Notify> {
        let changes = self.turn(|turn| Arc::clone(turn.changes.get_or_insert_default()));
        changes.unwrap_or_default()
    }

    /// Waits until all new turns before this one have started.
    async fn is_next(&self, token: &CancellationToken) -> Result<(), AgentError> {
        let has_earlier = || {
            let list = self.turns.lock();
            list.turns.iter().any(|turn| turn.starts && turn.number < self.number)
        };
        if !has_earlier() {
            return Ok(());
        }
        let changes = self.changes();
        while has_earlier() {
            changed(&changes, token).await?;
        }
        Ok(())
    }

    fn turn<R>(&self, with: impl FnOnce(&mut Turn) -> R) -> Option<R> {
        let mut list = self.turns.lock();
        let turn = list.turns.iter_mut().find(|turn| turn.number == self.number);
        turn.map(with)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut list = self.turns.lock();
        list.turns.retain(|turn| turn.number != self.number);
        // The questions of the turn may be answered now.
        list.notify();
    }
}

impl<T> TurnQueue<T> {
    pub(crate) fn new(value: T, busy: BusyPolicy, questions: OpenQuestionPolicy) -> Self {
        Self {
            value: Arc::new(Mutex::new(value)),
            running: Arc::default(),
            busy,
            questions,
            turns: Arc::default(),
        }
    }

    /// Acquires the permit for a turn, according to the policies. `token` is the turn's own: a turn that interrupts it cancels
    /// it. A turn that resumes interrupts nothing. Cancel safe: a turn that is dropped while it waits leaves the queue.
    pub(crate) async fn acquire(
        &self,
        token: CancellationToken,
        purpose: Purpose<'_, T>,
    ) -> Result<TurnPermit<T>, AgentError> {
        let interrupts = self.busy == BusyPolicy::Interrupt && !matches!(purpose, Purpose::Resume);
        let is_refused = self.busy == BusyPolicy::Refuse;
        // An open turn that is cancelled before it continues has to be stopped, which only a run of it can do.
        if matches!(purpose, Purpose::Resume)
            && let Some(permit) = self.free_permit(&token)
        {
            return Ok(permit);
        }
        let Purpose::Start(asks) = purpose else {
            let entry = self.turns.add(token.clone(), interrupts, false);
            return self.permit(entry, &token, is_refused).await;
        };
        let entry = self.turns.add(token.clone(), interrupts, true);
        entry.is_next(&token).await?;
        let mut permit = self.permit(entry, &token, is_refused).await?;
        while let Some(error) = asks(&permit.value) {
            match self.questions {
                OpenQuestionPolicy::Refuse => return Err(error),
                OpenQuestionPolicy::Withdraw => break,
                OpenQuestionPolicy::Queue => {
                    tracing::info!("a turn waits until the questions of the one before it are answered or withdrawn");
                    // From now on, no change is missed.
                    let changes = permit.entry.changes();
                    let entry = permit.give_back();
                    changed(&changes, &token).await?;
                    permit = self.permit(entry, &token, false).await?;
                }
            }
        }
        permit.entry.started();
        Ok(permit)
    }

    /// Returns the permit if no turn runs or waits, even if the token is cancelled.
    fn free_permit(&self, token: &CancellationToken) -> Option<TurnPermit<T>> {
        let running = Arc::clone(&self.running).try_lock_owned().ok()?;
        let value = Arc::clone(&self.value).try_lock_owned().ok()?;
        let entry = self.turns.add(token.clone(), false, false);
        entry.set_running(true);
        Some(TurnPermit {
            value,
            token: token.clone(),
            entry,
            _running: running,
        })
    }

    /// Waits for the turn that runs, unless that `is_refused`.
    async fn permit(
        &self,
        entry: Entry,
        token: &CancellationToken,
        is_refused: bool,
    ) -> Result<TurnPermit<T>, AgentError> {
        let running = if is_refused {
            let running = Arc::clone(&self.running).try_lock_owned();
            running.map_err(|_| AgentError::busy())?
        } else {
            wait(&self.running, token).await?
        };
        entry.set_running(true);
        let value = wait(&self.value, token).await?;
        Ok(TurnPermit {
            value,
            token: token.clone(),
            entry,
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
        let written = write(&mut *self.value.lock().await);
        self.turns.lock().notify();
        written
    }
}

async fn changed(changes: &Notify, token: &CancellationToken) -> Result<(), AgentError> {
    tokio::select! {
        biased;
        () = token.cancelled() => Err(AgentError::cancelled()),
        () = changes.notified() => Ok(()),
    }
}

async fn wait<V>(mutex: &Arc<Mutex<V>>, token: &CancellationToken) -> Result<OwnedMutexGuard<V>, AgentError> {
    tokio::select! {
        biased;
        () = token.cancelled() => Err(AgentError::cancelled()),
        guard = Arc::clone(mutex).lock_owned() => Ok(guard),
    }
}
