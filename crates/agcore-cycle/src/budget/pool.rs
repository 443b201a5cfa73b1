//! [`BudgetPool`]: a budget that many turns share, and [`Reservation`]: a part of it.

use std::{
    fmt,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agcore_chat::Clock;
use tokio::sync::Notify;

use super::{
    limit::{Budget, Resource},
    spent::Spent,
};

/// A budget that many turns share, on any thread. All clones refer to the same pool.
///
/// The time of a pool is working time: the sum of the running times of all turns, not wall-clock time. Two turns that
/// run side by side for 3 seconds use 6 seconds. The time of running turns is counted continuously, so all of them end
/// when the sum reaches the limit: 64 turns on a pool of 10 seconds get 156 milliseconds each. A turn does not run
/// while it waits for a person; while it waits for a rate limit or before another attempt, it does.
///
/// Two conversations that may make three model calls together:
///
/// ```
/// use agcore_chat::ChatResponse;
/// use agcore_cycle::{Budget, BudgetPool, Budgets, CycleErrorKind, CycleSettings, LlmCycle};
/// use agcore_llm::{SystemClock, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let pool = BudgetPool::new(Budget::new().with_model_calls(3));
/// let conversation = || {
///     let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Hello.")) });
///     let budgets = Budgets::new().with_pool(pool.clone());
///     LlmCycle::new(provider, SystemClock::new()).with_settings(CycleSettings::new().with_budgets(budgets))
/// };
/// let (mut first, mut second) = (conversation(), conversation());
/// first.turn("Hello").await?;
/// second.turn("Hello").await?;
/// first.turn("Again").await?;
///
/// let error = second.turn("Again").await.unwrap_err();
/// assert_eq!(error.kind(), CycleErrorKind::LimitReached);
/// assert_eq!(pool.spent().model_calls, 3);
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct BudgetPool(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Notified when time may run out earlier than it seemed.
    sooner: Notify,
}

struct State {
    budget: Budget,
    spent: Spent,
    reserved: Spent,
    running: Vec<Running>,
    /// The number of the next turn.
    next: u64,
}

/// A turn whose time is counted while it runs.
struct Running {
    number: u64,
    clock: Arc<dyn Clock>,
    /// The moment up to which its time is part of the amount spent.
    since: Duration,
}

impl State {
    /// Returns the spent and reserved amounts, with the time of running turns.
    fn used(&self) -> Spent {
        let mut used = self.spent.clone();
        used.add(&self.reserved);
        used.add(&Spent::new().with_time(self.running_time()));
        used
    }

    fn running_time(&self) -> Duration {
        let elapsed = |turn: &Running| turn.clock.monotonic().saturating_sub(turn.since);
        self.running
            .iter()
            .map(elapsed)
            .fold(Duration::ZERO, Duration::saturating_add)
    }

    /// Returns how much time is left for all running turns together.
    fn time_left(&self, held_back: bool) -> Option<Duration> {
        let limit = self.budget.time_limit(held_back)?;
        let used = self.spent.time().saturating_add(self.running_time());
        Some(limit.saturating_sub(used))
    }

    /// Reserves `more` if it fits together with the margin.
    fn reserve(&mut self, more: &Spent, margin: Option<&Spent>) -> Result<(), Resource> {
        self.budget.admits_with(&self.used(), more, margin)?;
        self.reserved.add(more);
        Ok(())
    }
}

impl BudgetPool {
    /// Creates a pool from which nothing has been spent.
    pub fn new(budget: Budget) -> Self {
        Self::with_spent(budget, Spent::new())
    }

    /// Creates a pool from which this was already spent, for example one whose state was saved.
    pub fn with_spent(budget: Budget, spent: Spent) -> Self {
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                budget,
                spent,
                reserved: Spent::new(),
                running: Vec::new(),
                next: 0,
            }),
            sooner: Notify::new(),
        }))
    }

    /// Returns the budget.
    pub fn budget(&self) -> Budget {
        self.lock().budget.clone()
    }

    /// Replaces the budget. The amounts that are spent and reserved stay, even if they exceed the new budget.
    pub fn set_budget(&self, budget: Budget) {
        self.lock().budget = budget;
        self.0.sooner.notify_waiters();
    }

    /// Returns the amount spent so far. The time of a turn is added at the end of each of its steps;
    /// [`time_left`](Self::time_left) counts running turns up to now.
    pub fn spent(&self) -> Spent {
        self.lock().spent.clone()
    }

    /// Returns the amount that calls in flight have reserved.
    pub fn reserved(&self) -> Spent {
        self.lock().reserved.clone()
    }

    /// Returns both amounts as of the same moment.
    pub(crate) fn spent_and_reserved(&self) -> (Spent, Spent) {
        let state = self.lock();
        (state.spent.clone(), state.reserved.clone())
    }

    /// Returns the time that is left for all turns together, or `None` if time is not limited. Running turns count up to
    /// now.
    pub fn time_left(&self) -> Option<Duration> {
        self.time_left_with(false)
    }

    /// Reserves the worst case of a call. Does not wait for other reservations to be returned.
    ///
    /// # Errors
    /// The first [`Resource`] that is insufficient.
    pub fn reserve(&self, worst: &Spent) -> Result<Reservation, Resource> {
        self.reserve_with(worst, None)
    }

    /// Like [`reserve`](Self::reserve), with a margin for wrapping up.
    pub(crate) fn reserve_with(&self, worst: &Spent, margin: Option<&Spent>) -> Result<Reservation, Resource> {
        self.lock().reserve(worst, margin)?;
        Ok(Reservation {
            pool: self.clone(),
            amount: worst.clone(),
        })
    }

    /// Reserves an amount, whether it fits or not.
    pub(crate) fn set_aside(&self, amount: Spent) -> Reservation {
        self.lock().reserved.add(&amount);
        Reservation {
            pool: self.clone(),
            amount,
        }
    }

    /// Counts an amount that was not reserved.
    pub fn spend(&self, spent: &Spent) {
        self.lock().spent.add(spent);
        if spent.time_us > 0 {
            self.0.sooner.notify_waiters();
        }
    }

    /// Checks that `more` would fit together with the margin.
    pub(crate) fn admits(&self, more: &Spent, margin: Option<&Spent>) -> Result<(), Resource> {
        let state = self.lock();
        state.budget.admits_with(&state.used(), more, margin)
    }

    /// Returns the spent and reserved amounts, with the time of running turns.
    pub(crate) fn used(&self) -> Spent {
        self.lock().used()
    }

    /// Starts to count the time of a turn.
    pub(crate) fn start_turn(&self, clock: Arc<dyn Clock>, now: Duration) -> RunningTurn {
        let number = {
            let mut state = self.lock();
            state.next += 1;
            state.next
        };
        let turn = RunningTurn {
            pool: self.clone(),
            number,
            clock,
        };
        turn.resume(now);
        turn
    }

    /// Returns the time that is left like [`time_left`](Self::time_left), perhaps without the part that is held back for
    /// wrapping up.
    pub(crate) fn time_left_with(&self, held_back: bool) -> Option<Duration> {
        self.lock().time_left(held_back)
    }

    /// Completes when the running turns, including the caller's, have used up the time.
    pub(crate) async fn out_of_time(&self, clock: &dyn Clock, held_back: bool) {
        loop {
            let mut sooner = pin!(self.0.sooner.notified());
            sooner.as_mut().enable();
            let (left, turns) = {
                let state = self.lock();
                (state.time_left(held_back), state.running.len())
            };
            match left {
                None => sooner.await,
                Some(Duration::ZERO) => return,
                Some(left) => tokio::select! {
                    biased;
                    () = sooner => {}
                    () = clock.sleep(share(left, turns)) => {}
                },
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns how long this many turns can run side by side, rounded up.
fn share(left: Duration, turns: usize) -> Duration {
    let turns = u128::try_from(turns).unwrap_or(1).max(1);
    let share = left.as_nanos().div_ceil(turns);
    Duration::from_nanos(u64::try_from(share).unwrap_or(u64::MAX))
}

/// A turn whose time a pool counts. Dropping it ends that, and time that was not [counted](Self::count) is forgotten.
pub(crate) struct RunningTurn {
    pool: BudgetPool,
    number: u64,
    clock: Arc<dyn Clock>,
}

impl RunningTurn {
    /// Adds running time to the amount spent. `until` is the moment up to which it is counted then.
    pub(crate) fn count(&self, spent: &Spent, until: Duration) {
        let mut state = self.pool.lock();
        state.spent.add(spent);
        let number = self.number;
        if let Some(turn) = state.running.iter_mut().find(|turn| turn.number == number) {
            turn.since = until;
        }
    }

    /// Stops counting.
    pub(crate) fn pause(&self) {
        self.pool.lock().running.retain(|turn| turn.number != self.number);
    }

    /// Continues to count.
    pub(crate) fn resume(&self, now: Duration) {
        self.pause();
        let mut state = self.pool.lock();
        state.running.push(Running {
            number: self.number,
            clock: Arc::clone(&self.clock),
            since: now,
        });
        let is_limited = state.budget.time.is_some();
        drop(state);
        if is_limited {
            self.pool.0.sooner.notify_waiters();
        }
    }
}

impl Drop for RunningTurn {
    fn drop(&mut self) {
        self.pause();
    }
}

impl fmt::Debug for BudgetPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("BudgetPool")
            .field("budget", &state.budget)
            .field("spent", &state.spent)
            .field("reserved", &state.reserved)
            .finish()
    }
}

/// The amount that is reserved for one call.
///
/// Dropping a reservation returns the whole amount to the pool, as if nothing was spent. The turns of a cycle settle each
/// call, even if their future is dropped.
///
/// ```
/// use agcore_cycle::{Budget, BudgetPool, Spent, budget::Resource};
///
/// let pool = BudgetPool::new(Budget::new().with_tokens(1_000));
/// let attempt = Spent::new().with_tokens(400);
/// let mut reservation = pool.reserve(&attempt)?;
/// // The first attempt failed, and its cost is unknown: reserve as much again.
/// reservation.grow(&attempt)?;
/// assert_eq!(pool.reserved().tokens, 800);
/// reservation.settle(&Spent::new().with_tokens(500));
/// assert!(pool.reserved().is_zero());
/// assert_eq!(pool.spent().tokens, 500);
/// # Ok::<(), Resource>(())
/// ```
#[derive(Debug)]
#[must_use = "dropping a reservation returns it to the pool"]
pub struct Reservation {
    pool: BudgetPool,
    amount: Spent,
}

impl Reservation {
    /// Returns the reserved amount.
    pub fn amount(&self) -> &Spent {
        &self.amount
    }

    /// Reserves more for the same call, for example for another attempt.
    ///
    /// # Errors
    /// The first [`Resource`] that is insufficient. The reservation stays as it was.
    pub fn grow(&mut self, more: &Spent) -> Result<(), Resource> {
        self.pool.lock().reserve(more, None)?;
        self.amount.add(more);
        Ok(())
    }

    /// Reserves more for the same call, whether it fits or not.
    pub(crate) fn set_aside(&mut self, more: &Spent) {
        self.pool.lock().reserved.add(more);
        self.amount.add(more);
    }

    /// Replaces the reserved amount by the real cost of the call.
    pub fn settle(self, spent: &Spent) {
        self.pool.spend(spent);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.pool.lock().reserved.subtract(&self.amount);
    }
}
