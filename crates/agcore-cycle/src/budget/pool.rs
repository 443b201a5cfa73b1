//! [`BudgetPool`]: a budget that many turns share.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    limit::{Budget, Resource},
    spent::Spent,
};

/// A budget that many turns share, in any threads. Every clone is the same pool.
#[derive(Clone)]
pub struct BudgetPool(Arc<Mutex<State>>);

struct State {
    budget: Budget,
    spent: Spent,
    reserved: Spent,
}

impl State {
    /// Reserves so much, if a margin fits, too.
    fn reserve(&mut self, more: &Spent, margin: Option<&Spent>) -> Result<(), Resource> {
        let mut used = self.spent.clone();
        used.add(&self.reserved);
        self.budget.admits_with(&used, more, margin)?;
        self.reserved.add(more);
        Ok(())
    }
}

impl BudgetPool {
    /// A pool of which nothing is spent.
    pub fn new(budget: Budget) -> Self {
        Self::with_spent(budget, Spent::new())
    }

    /// A pool of which so much is spent: one that was kept goes on.
    pub fn with_spent(budget: Budget, spent: Spent) -> Self {
        Self(Arc::new(Mutex::new(State {
            budget,
            spent,
            reserved: Spent::new(),
        })))
    }

    /// What may be spent.
    pub fn budget(&self) -> Budget {
        self.lock().budget.clone()
    }

    /// Changes what may be spent. What is spent and reserved stays so, also where it is more than the new budget.
    pub fn set_budget(&self, budget: Budget) {
        self.lock().budget = budget;
    }

    /// What was settled so far.
    pub fn spent(&self) -> Spent {
        self.lock().spent.clone()
    }

    /// What calls under way have reserved.
    pub fn reserved(&self) -> Spent {
        self.lock().reserved.clone()
    }

    /// Reserves the worst case of something. It does not wait for reservations of others to be given back.
    ///
    /// # Errors
    /// The first resource of which there is too little.
    pub fn reserve(&self, worst: &Spent) -> Result<Reservation, Resource> {
        self.reserve_with(worst, None)
    }

    /// The same, if there is as much as the margin left for wrapping up.
    pub(crate) fn reserve_with(&self, worst: &Spent, margin: Option<&Spent>) -> Result<Reservation, Resource> {
        self.lock().reserve(worst, margin)?;
        Ok(Reservation {
            pool: self.clone(),
            held: worst.clone(),
        })
    }

    /// Counts what needed no reservation.
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

/// What is reserved for one call. Dropping it gives it back: what a call came to that nobody read the end of is not known.
#[derive(Debug)]
#[must_use = "dropping a reservation gives it back"]
pub struct Reservation {
    pool: BudgetPool,
    held: Spent,
}

impl Reservation {
    /// What is reserved.
    pub fn held(&self) -> &Spent {
        &self.held
    }

    /// Reserves more for the same call: another attempt.
    ///
    /// # Errors
    /// The first resource of which there is too little; what is reserved stays so.
    pub fn grow(&mut self, more: &Spent) -> Result<(), Resource> {
        self.pool.lock().reserve(more, None)?;
        self.held.add(more);
        Ok(())
    }

    /// Counts what the call really came to, in place of what was reserved.
    pub fn settle(self, spent: &Spent) {
        self.pool.spend(spent);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.pool.lock().reserved.take(&self.held);
    }
}
