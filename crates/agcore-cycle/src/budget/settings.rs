//! [`Budgets`] of a cycle, and what a call may cost under them.

use std::fmt;

use agcore_chat::{Money, PriceFn, Usage};

use super::{
    limit::Budget,
    pool::BudgetPool,
    price::{PriceError, known_price},
    spent::Spent,
};

/// What the turns of a cycle may spend. Without any limit, nothing is measured.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Budgets {
    /// What each turn may spend.
    pub turn: Budget,
    /// What all turns may spend together.
    pub cycle: Budget,
    /// What they may spend together with others.
    pub pool: Option<BudgetPool>,
    /// What replies cost. Without a money budget it is only counted, as far as it is known.
    pub price: Option<PriceFn>,
}

impl Budgets {
    /// No limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits each turn.
    pub fn with_turn(mut self, budget: Budget) -> Self {
        self.turn = budget;
        self
    }

    /// Limits all turns together.
    pub fn with_cycle(mut self, budget: Budget) -> Self {
        self.cycle = budget;
        self
    }

    /// Limits all turns together with others.
    pub fn with_pool(mut self, pool: BudgetPool) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Sets what replies cost.
    pub fn with_price(mut self, price: PriceFn) -> Self {
        self.price = Some(price);
        self
    }

    /// Whether anything is to be measured.
    pub fn is_active(&self) -> bool {
        self.turn.is_limited() || self.cycle.is_limited() || self.pool.is_some() || self.price.is_some()
    }

    /// The most that a call with so many tokens may come to. Where a vendor takes more for tokens that it writes to its
    /// cache, all input counts as such.
    pub(crate) fn worst_case(&self, model: &str, input: u64, output: u64) -> Result<Spent, PriceError> {
        let tokens = input.saturating_add(output);
        let spent = Spent::new().with_tokens(tokens).with_model_calls(1);
        let fresh = Usage::new(input, output);
        let mut cached = fresh.clone();
        cached.prompt_tokens_details.cache_write_tokens = Some(input);
        let Some(price) = self.price_of(model, &fresh)? else {
            return Ok(spent);
        };
        let dearer = self.price_of(model, &cached).ok().flatten();
        let dearer = dearer.filter(|dearer| dearer.currency == price.currency && dearer.micros > price.micros);
        Ok(spent.with_money(&dearer.unwrap_or(price)))
    }

    /// The price of a use; without a money budget, none where it cannot be told.
    pub(crate) fn price_of(&self, model: &str, usage: &Usage) -> Result<Option<Money>, PriceError> {
        let price = known_price(self.price.as_ref(), model, usage);
        let pool = self.pool.as_ref().map(BudgetPool::budget);
        let budgets = [Some(&self.turn), Some(&self.cycle), pool.as_ref()];
        let mut limits = budgets
            .into_iter()
            .flatten()
            .filter_map(|budget| budget.money.as_ref())
            .peekable();
        if limits.peek().is_none() {
            return Ok(price.ok());
        }
        let price = price?;
        match limits.find(|limit| limit.currency != price.currency) {
            None => Ok(Some(price)),
            Some(limit) => Err(PriceError::Currency {
                model: model.to_owned(),
                price: price.currency,
                budget: limit.currency.clone(),
            }),
        }
    }
}

impl fmt::Debug for Budgets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budgets")
            .field("turn", &self.turn)
            .field("cycle", &self.cycle)
            .field("pool", &self.pool)
            .field("price", &self.price.is_some())
            .finish()
    }
}
