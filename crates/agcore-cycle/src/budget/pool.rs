//! [`BudgetPool`]: a budget that many turns share, and [`Reservation`]: a part of it.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    limit::{Budget, Resource},
    spent::Spent,
};

/// A budget that many turns share, on any thread. All clones refer to the same pool.
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
pub struct BudgetPool(Arc<Mutex<State>>);

struct State {
    budget: Budget,
    spent: Spent,
    reserved: Spent,
}

impl State {
    /// Reserves `more` if it fits together with the margin.
    fn reserve(&mut self, more: &Spent, margin: Option<&Spent>) -> Result<(), Resource> {
        let mut used = self.spent.clone();
        used.add(&self.reserved);
        self.budget.admits_with(&used, more, margin)?;
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
        Self(Arc::new(Mutex::new(State {
            budget,
            spent,
            reserved: Spent::new(),
        })))
    }

    /// Returns the budget.
    pub fn budget(&self) -> Budget {
        self.lock().budget.clone()
    }

    /// Replaces the budget. The amounts that are spent and reserved stay, even if they exceed the new budget.
    pub fn set_budget(&self, budget: Budget) {
        self.lock().budget = budget;
    }

    /// Returns the amount spent so far.
    pub fn spent(&self) -> Spent {
        self.lock().spent.clone()
    }

    /// Returns the amount that calls in flight have reserved.
    pub fn reserved(&self) -> Spent {
        self.lock().reserved.clone()
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

    /// Counts an amount that was not reserved.
    pub fn spend(&self, spent: &Spent) {
        self.lock().spent.add(spent);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
/// Dropping a reservation returns the whole amount to the pool: the cost of a call that was abandoned is unknown.
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
