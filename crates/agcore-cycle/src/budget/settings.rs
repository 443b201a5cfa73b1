//! [`Budgets`] of a conversation, and the worst case of a call.

use std::fmt;

use std::time::SystemTime;

use agcore_chat::{Money, PriceFn, PriceQuery, Usage};

use super::{
    limit::Budget,
    pool::BudgetPool,
    price::{PriceError, usable_price},
    spent::Spent,
};

/// The budgets of a conversation. Without any limit or price, spending is not measured.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{ChatResponse, Money, Usage};
/// use agcore_cycle::{Budget, Budgets, CycleErrorKind, CycleSettings, LlmCycle};
/// use agcore_llm::{SystemClock, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async {
///     let mut response = ChatResponse::from_text("Hello.");
///     response.usage = Some(Usage::new(100, 20));
///     Ok(response)
/// });
/// // Each turn may use 50,000 tokens, and all turns together may cost one cent. A token costs 50 micros.
/// let budgets = Budgets::new()
///     .with_turn(Budget::new().with_tokens(50_000))
///     .with_cycle(Budget::new().with_money(Money::from_micros(10_000, "USD")))
///     .with_price(Arc::new(|_, usage| {
///         let tokens = i64::try_from(usage.total()?).ok()?;
///         Some(Money::from_micros(50 * tokens, "USD"))
///     }));
/// let mut cycle = LlmCycle::new(provider, SystemClock::new())
///     .with_settings(CycleSettings::new().with_budgets(budgets));
/// cycle.settings_mut().request.max_completion_tokens = Some(50);
///
/// cycle.turn("Hello").await?;
/// assert_eq!(cycle.spent().micros("USD"), 6_000);
///
/// // The worst case of another call does not fit, so the call is not made.
/// let error = cycle.turn(&*"Tell me a long story. ".repeat(20)).await.unwrap_err();
/// assert_eq!(error.kind(), CycleErrorKind::LimitReached);
/// assert_eq!(cycle.spent().micros("USD"), 6_000);
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Budgets {
    /// The budget of each turn.
    pub turn: Budget,
    /// The budget of all turns together.
    pub cycle: Budget,
    /// A budget that is shared with other conversations.
    pub pool: Option<BudgetPool>,
    /// The prices of model calls. Without a money budget, costs are counted if the price is known.
    pub price: Option<PriceFn>,
}

impl Budgets {
    /// Creates budgets without limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the budget of each turn.
    #[must_use]
    pub fn with_turn(mut self, budget: Budget) -> Self {
        self.turn = budget;
        self
    }

    /// Sets the budget of all turns together.
    #[must_use]
    pub fn with_cycle(mut self, budget: Budget) -> Self {
        self.cycle = budget;
        self
    }

    /// Sets a budget that is shared with other conversations.
    #[must_use]
    pub fn with_pool(mut self, pool: BudgetPool) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Sets the prices of model calls.
    #[must_use]
    pub fn with_price(mut self, price: PriceFn) -> Self {
        self.price = Some(price);
        self
    }

    /// Returns whether spending is measured.
    pub fn is_active(&self) -> bool {
        self.turn.is_limited() || self.cycle.is_limited() || self.pool.is_some() || self.price.is_some()
    }

    /// Returns the highest cost of a call with this many tokens. If a vendor charges more for tokens that it writes to its
    /// cache, all input counts as such.
    pub(crate) fn worst_case(&self, model: &str, input: u64, output: u64) -> Result<Spent, PriceError> {
        let tokens = input.saturating_add(output);
        let spent = Spent::new().with_tokens(tokens).with_model_calls(1);
        let uncached = Usage::new(input, output);
        let mut cached = uncached.clone();
        cached.prompt_tokens_details.cache_write_tokens = Some(input);
        let Some(price) = self.price_of(model, &uncached)? else {
            return Ok(spent);
        };
        let higher = self.price_of(model, &cached).ok().flatten();
        let higher = higher.filter(|higher| higher.currency == price.currency && higher.micros > price.micros);
        Ok(spent.with_money(&higher.unwrap_or(price)))
    }

    /// Returns the price of a use. Without a money budget, an unusable price counts as `None`.
    pub(crate) fn price_of(&self, model: &str, usage: &Usage) -> Result<Option<Money>, PriceError> {
        let query = PriceQuery::new(model, usage, SystemTime::UNIX_EPOCH);
        let price = usable_price(self.price.as_ref(), &query);
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
