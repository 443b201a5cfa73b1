//! [`FaultyStore`]: a store around another one whose calls fail, lose their answers, wait or are abandoned.

mod administration;
mod plan;
mod moments;
mod holds;
mod memory_store;
mod journal;
mod sessions;
mod reports;
mod leases;

use self::moments::Observer;
pub use self::{
    moments::StoreMoment,
    plan::{FaultPlan, StoreFault},
};

use std::{
    collections::BTreeMap,
    future::{Future, poll_fn},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use agcore_store::{StoreError, StoreErrorKind};
use tokio::sync::{oneshot, watch};

/// A store whose calls go wrong according to a [`FaultPlan`]: for tests of programs that must survive that, and of stores whose
/// callers repeat or abandon calls.
///
/// It implements each contract that the inner store implements. Calls are numbered from 0, over all methods and clones.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_session::{InMemoryJournal, Journal, Record, SessionErrorKind, Timestamp};
/// use agcore_testkit::stores::faulty::{FaultPlan, FaultyStore, StoreFault};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let plan = FaultPlan::new().with_fault(0, StoreFault::LoseAnswer);
/// let journal = FaultyStore::new(InMemoryJournal::new(), plan);
/// let record = Record::new("note", 1, Timestamp::default(), json!("a"));
///
/// let lost = journal.append("notes", 0, vec![record.clone()]).await.unwrap_err();
/// assert_eq!(lost.kind(), SessionErrorKind::Unavailable);
/// // The record is there, so the same call cannot append it twice.
/// let again = journal.append("notes", 0, vec![record]).await.unwrap_err();
/// assert_eq!(again.kind(), SessionErrorKind::Conflict { expected: 0, found: 1 });
/// # });
/// ```
#[derive(Debug, Clone)]
pub struct FaultyStore<S> {
    inner: S,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    plan: FaultPlan,
    observer: Observer,
    state: Mutex<State>,
    held: watch::Sender<usize>,
    holds: holds::Holds,
}

#[derive(Debug, Default)]
struct State {
    calls: Vec<StoreCall>,
    held: BTreeMap<usize, oneshot::Sender<()>>,
}

/// A call of a [`FaultyStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreCall {
    /// The number of the call.
    pub number: usize,
    /// The name of the method.
    pub method: &'static str,
    /// The fault, if the call had one.
    pub fault: Option<StoreFault>,
}

impl<S> FaultyStore<S> {
    /// Wraps a store.
    pub fn new(inner: S, plan: FaultPlan) -> Self {
        Self::with_parts(inner, plan, Observer::default())
    }

    /// Wraps a store whose calls do not go wrong. The function is called before and after each call, with the name of its method,
    /// and may block the thread there or stop the process.
    pub fn observed(inner: S, observer: impl Fn(StoreMoment, &str) + Send + Sync + 'static) -> Self {
        Self::with_parts(inner, FaultPlan::new(), Observer::new(observer))
    }

    fn with_parts(inner: S, plan: FaultPlan, observer: Observer) -> Self {
        Self {
            inner,
            shared: Arc::new(Shared {
                plan,
                observer,
                state: Mutex::default(),
                held: watch::Sender::new(0),
                holds: holds::Holds::default(),
            }),
        }
    }

    /// Returns the inner store, whose calls do not fail.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// Returns all calls so far.
    pub fn recorded_calls(&self) -> Vec<StoreCall> {
        self.state().calls.clone()
    }

    /// Waits until this many calls are held.
    ///
    /// # Cancel safety
    /// Dropping the future has no effect.
    pub async fn wait_for_held(&self, calls: usize) {
        // Cannot fail: `self` has the sender.
        let _ = self.shared.held.subscribe().wait_for(|held| *held >= calls).await;
    }

    /// Lets a held call continue. Returns whether the call was held.
    pub fn release(&self, call: usize) -> bool {
        let held = self.state().held.remove(&call);
        self.count_held();
        // The receiver is gone if the caller was.
        held.is_some_and(|held| held.send(()).is_ok())
    }

    /// Lets all held calls continue, in the order of their numbers.
    pub fn release_all(&self) {
        let held = std::mem::take(&mut self.state().held);
        self.count_held();
        for (_, held) in held {
            let _ = held.send(());
        }
    }

    /// Releases all holds that were taken through this store and its clones, as the end of their process does. Call it when a test
    /// only stops using what it has started.
    pub fn drop_holds(&self) {
        self.shared.holds.release_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_held(&self) {
        self.shared.held.send_replace(self.state().held.len());
    }

    /// Makes a call, with what goes wrong.
    async fn call<T, E: From<StoreError>>(
        &self,
        method: &'static str,
        call: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, E> {
        self.shared.observer.observe(StoreMoment::Before, method);
        let answer = self.call_with_fault(method, call).await;
        self.shared.observer.observe(StoreMoment::After, method);
        answer
    }

    async fn call_with_fault<T, E: From<StoreError>>(
        &self,
        method: &'static str,
        call: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, E> {
        let (number, fault) = self.begin(method);
        match fault {
            None => call.await,
            Some(StoreFault::Fail) => Err(failure(method, number, "failed before it took place").into()),
            Some(StoreFault::LoseAnswer) => match call.await {
                Ok(_) => Err(failure(method, number, "took place, but its answer was lost").into()),
                Err(error) => Err(error),
            },
            Some(StoreFault::Abandon { polls }) => {
                abandon(call, polls).await;
                Err(failure(method, number, "was abandoned in the middle").into())
            }
            Some(StoreFault::Hold) => {
                self.wait_for_release(number).await;
                call.await
            }
        }
    }

    fn begin(&self, method: &'static str) -> (usize, Option<StoreFault>) {
        let mut state = self.state();
        let number = state.calls.len();
        let fault = self.shared.plan.fault(number, method);
        state.calls.push(StoreCall { number, method, fault });
        (number, fault)
    }

    async fn wait_for_release(&self, number: usize) {
        let (release, released) = oneshot::channel();
        self.state().held.insert(number, release);
        self.count_held();
        // An error means that the store is gone, and with it who could release the call.
        let _ = released.await;
    }
}

/// Polls a future a number of times, and drops it.
async fn abandon<T>(call: impl Future<Output = T>, polls: u32) {
    let mut call = pin!(call);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 || call.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        left -= 1;
        // Polled again even if nothing has happened in the meantime.
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn failure(method: &str, number: usize, what: &str) -> StoreError {
    StoreError::new(
        StoreErrorKind::Unavailable,
        format!("call {number} of the faulty store, `{method}`, {what}"),
    )
}
