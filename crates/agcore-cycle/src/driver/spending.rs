//! [`Spending`]: the budgets of a turn, and the time that counts against them.

mod hold;
mod time_left;
mod tools;

use std::{sync::Arc, time::Duration};

use agcore_chat::{Clock, TokenEstimator};
use tokio_util::sync::CancellationToken;

pub(super) use self::{
    hold::{Hold, PlannedCall},
    time_left::TimeLeft,
};
use crate::{
    budget::{
        Budget, BudgetLimit, BudgetPool, BudgetShortage, Budgets, DrawError, PriceError, Resource, RunningTurn, Scope,
        SharedBudget, Spent,
    },
    machine::{Account, LimitKind, Machine, Purpose, RoundLimit},
};

/// The budgets of a turn, and the time that counts against them. What was spent is in the machine.
pub(super) struct Spending<'a> {
    pub(super) budgets: &'a Budgets,
    /// A budget that is kept elsewhere.
    shared: Option<&'a SharedBudget>,
    pub(super) estimator: &'a dyn TokenEstimator,
    pub(super) clock: &'a Arc<dyn Clock>,
    /// The moment up to which time was counted; `None` while the turn waits for a person, and without budgets.
    counted_until: Option<Duration>,
    /// The turn among those that spend time of the pool.
    in_pool: Option<RunningTurn>,
}

/// The reason a call is not made.
#[derive(Debug)]
pub(super) enum Refusal {
    /// A budget ran out.
    Limit(BudgetLimit),
    /// A budget has too little left.
    Shortage(Box<BudgetShortage>),
    Price(PriceError),
    /// A budget that is kept elsewhere has too little left, or cannot be used.
    Draw(DrawError),
}

impl Refusal {
    pub(super) fn message(&self) -> String {
        match self {
            Self::Limit(limit) => LimitKind::Budget(*limit).message().into_owned(),
            Self::Shortage(shortage) => shortage.to_string(),
            Self::Price(error) => error.to_string(),
            Self::Draw(error) => error.to_string(),
        }
    }
}

impl<'a> Spending<'a> {
    pub(super) fn new(
        budgets: &'a Budgets,
        shared: Option<&'a SharedBudget>,
        estimator: &'a dyn TokenEstimator,
        clock: &'a Arc<dyn Clock>,
    ) -> Self {
        // Without budgets, nothing asks for the time.
        let is_active = budgets.is_active() || shared.is_some();
        let now = is_active.then(|| clock.monotonic());
        Self {
            budgets,
            shared,
            estimator,
            clock,
            counted_until: now,
            in_pool: budgets
                .pool
                .as_ref()
                .zip(now)
                .map(|(pool, now)| pool.start_turn(Arc::clone(clock), now)),
        }
    }

    /// Returns whether anything has to be counted.
    pub(super) fn is_active(&self) -> bool {
        self.budgets.is_active() || self.shared.is_some()
    }

    /// Returns whether calls draw from a budget that is kept elsewhere.
    pub(super) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Reports to the budget that is kept elsewhere what calls have cost, unless the turn is cancelled.
    pub(super) async fn report(&self, token: &CancellationToken) {
        if let Some(shared) = self.shared {
            tokio::select! {
                biased;
                () = token.cancelled() => {}
                () = shared.report() => {}
            }
        }
    }

    /// Returns whether the length of replies matters.
    fn limits_replies(&self) -> bool {
        self.budgets.limits_replies() || self.shared.is_some_and(SharedBudget::limits_replies)
    }

    /// Returns the currency of the budget that is kept elsewhere, if it limits money.
    fn shared_currency(&self) -> Option<Arc<str>> {
        self.shared.and_then(SharedBudget::currency)
    }

    /// Returns the moment, on the clock of the turn.
    pub(super) fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    /// Admits tool calls that are about to run. Returns what they spend, or `None` if there are no budgets.
    pub(super) fn admit_tools(&self, account: Account<'_>, calls: usize) -> Result<Option<Spent>, Box<BudgetShortage>> {
        if !self.is_active() {
            return Ok(None);
        }
        let spent = Spent::new().with_tool_calls(u64::try_from(calls).unwrap_or(u64::MAX));
        self.admit(account, &spent, None)?;
        if let Some(pool) = &self.budgets.pool {
            match pool.reserve(&spent) {
                Ok(reservation) => reservation.settle(&spent),
                Err(resource) => return Err(shortage_in(pool, resource, &spent)),
            }
        }
        Ok(Some(spent))
    }

    /// Takes the time that has passed since time was counted last. Returns `None` if there is nothing to record.
    pub(super) fn take_time(&mut self) -> Option<Spent> {
        if !self.is_active() {
            return None;
        }
        let spent = self.take_elapsed();
        (!spent.is_zero()).then_some(spent)
    }

    /// Stops the time: the turn waits for a person. Time that has passed before must have been [taken](Self::take_time).
    pub(super) fn pause(&mut self) {
        self.counted_until = None;
        if let Some(turn) = &self.in_pool {
            turn.pause();
        }
    }

    /// Continues the time.
    pub(super) fn resume(&mut self) {
        if self.counted_until.is_none() && self.is_active() {
            let now = self.clock.monotonic();
            self.counted_until = Some(now);
            if let Some(turn) = &self.in_pool {
                turn.resume(now);
            }
        }
    }

    fn elapsed(&self) -> Duration {
        let now = |until| self.clock.monotonic().saturating_sub(until);
        self.counted_until.map_or(Duration::ZERO, now)
    }

    /// Takes the time that has passed since time was counted last, and counts it in the pool.
    pub(super) fn take_elapsed(&mut self) -> Spent {
        let spent = Spent::new().with_time(self.elapsed());
        if let Some(until) = &mut self.counted_until {
            *until = until.saturating_add(spent.time());
            if let Some(turn) = &self.in_pool {
                turn.count(&spent, *until);
            }
        }
        spent
    }

    /// Returns how much time is left for the current step, and which budget limits it. It is unlimited while the turn waits
    /// for a person.
    pub(super) fn time_left(&self, machine: &Machine, purpose: Purpose) -> TimeLeft<'a> {
        if !self.is_active() || self.counted_until.is_none() {
            return TimeLeft::default();
        }
        let held_back = holds_back(machine, purpose);
        let left_of = |(scope, budget, used): &(Scope, &Budget, Spent)| {
            let left = budget.time_limit(held_back)?.saturating_sub(used.time());
            Some((left, BudgetLimit::new(*scope, Resource::Time)))
        };
        let own = self.own_budgets(machine.account());
        TimeLeft {
            own: own.iter().filter_map(left_of).min_by_key(|(left, _)| *left),
            pool: self.budgets.pool.as_ref().map(|pool| (pool, held_back)),
        }
    }

    /// Returns how much time is left for the newest turn, even if it has just ended.
    pub(super) fn time_left_of_turn(&self, machine: &Machine) -> TimeLeft<'a> {
        let turn = machine.turn_spent().and_then(|used| {
            let left = self.budgets.turn.time_left(&self.with_elapsed(used.clone()))?;
            Some((left, BudgetLimit::new(Scope::Turn, Resource::Time)))
        });
        let others = self.time_left(machine, Purpose::WrapUp);
        TimeLeft {
            own: turn.into_iter().chain(others.own).min_by_key(|(left, _)| *left),
            ..others
        }
    }

    /// Checks that `more` fits the budgets of the turn and the conversation, with a margin for wrapping up.
    pub(super) fn admit(
        &self,
        account: Account<'_>,
        more: &Spent,
        margin: Option<&Spent>,
    ) -> Result<(), Box<BudgetShortage>> {
        for (scope, budget, used) in self.own_budgets(account) {
            budget.admits_with(&used, more, margin).map_err(|resource| {
                let limit = BudgetLimit::new(scope, resource);
                Box::new(BudgetShortage::new(limit, budget, &used, &total(more, margin)))
            })?;
        }
        Ok(())
    }

    /// Returns the budgets that only this conversation spends from, and the amounts used of them by now.
    fn own_budgets(&self, account: Account<'_>) -> Vec<(Scope, &'a Budget, Spent)> {
        let budgets = self.budgets;
        let turn = account.turn.map(|used| (Scope::Turn, &budgets.turn, used));
        let cycle = (Scope::Cycle, &budgets.cycle, account.all);
        turn.into_iter()
            .chain([cycle])
            .filter(|(_, budget, _)| budget.is_limited())
            .map(|(scope, budget, used)| (scope, budget, self.with_elapsed(used.clone())))
            .collect()
    }

    fn with_elapsed(&self, mut used: Spent) -> Spent {
        used.add(&Spent::new().with_time(self.elapsed()));
        used
    }
}

/// Returns whether a part of the budgets is held back for a last reply.
pub(super) fn holds_back(machine: &Machine, purpose: Purpose) -> bool {
    purpose != Purpose::WrapUp && machine.is_open() && machine.limits().at_round_limit == RoundLimit::WrapUp
}

/// Returns what a pool lacks.
pub(super) fn shortage_in(pool: &BudgetPool, resource: Resource, more: &Spent) -> Box<BudgetShortage> {
    let limit = BudgetLimit::new(Scope::Pool, resource);
    Box::new(BudgetShortage::new(limit, &pool.budget(), &pool.used(), more))
}

pub(super) fn total(more: &Spent, margin: Option<&Spent>) -> Spent {
    let mut total = more.clone();
    if let Some(margin) = margin {
        total.add(margin);
    }
    total
}
