//! [`Budgets`] of a conversation, and the worst case of a call.

use std::{fmt, sync::Arc};

use agcore_chat::{Money, PriceFn, PriceQuery, Usage};

use super::{
    limit::Budget,
    pool::BudgetPool,
    price::{PriceError, usable_price},
    spent::Spent,
};

/// The budgets of a conversation. Without any limit or price, spending is not measured.
///
/// # Replies are limited to what is left
///
/// The worst case of a call is its request and the longest possible reply. If tokens or money are limited and the
/// request sets no token limit, the loop sets one, so that no reply is longer than what was reserved for it: the default
/// or the most of the provider ([`Capabilities`](agcore_llm::Capabilities)), else
/// [`reserved_tokens`](agcore_chat::WindowSettings::reserved_tokens) of the compaction settings; less if less is left,
/// but not less than [`MIN_REPLY_TOKENS`](crate::budget::MIN_REPLY_TOKENS). A limit that the request sets is never changed:
/// a call that does not fit with it is refused with a [`BudgetShortage`](crate::budget::BudgetShortage).
///
/// # Prices
///
/// Before a call, the price of every route that it may take is computed, and the highest one is reserved. If money is
/// limited and the price of a route is unknown, the call is refused. After the call, the provider, model and service
/// tier that answered are priced. If the model's name in the reply has no price, the name in the request counts; if
/// that has none either, the cost that the server reports.
///
/// # Giving up is not free
///
/// Dropping the future or stream of a turn cancels it, but a request that was already sent still costs money: the
/// tokens that the server had reported count, or, if it had not reported any, the estimated size of the request and of
/// the reply so far. The same is true of a call that is cancelled or runs out of time. A call that certainly never
/// reached a server costs nothing.
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
///     .with_price(Arc::new(|query| {
///         let tokens = i64::try_from(query.usage.total()?).ok()?;
///         Some(Money::from_micros(50 * tokens, "USD").into())
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

    /// Sets the budget of all turns of a session. Does the same as [`with_cycle`](Self::with_cycle), in the terms of
    /// sessions.
    #[must_use]
    pub fn with_session(self, budget: Budget) -> Self {
        self.with_cycle(budget)
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

    /// Returns whether the length of replies matters: whether tokens or money are limited.
    pub(crate) fn limits_replies(&self) -> bool {
        let pool = || self.pool.as_ref().is_some_and(|pool| pool.budget().limits_replies());
        self.turn.limits_replies() || self.cycle.limits_replies() || pool()
    }

    /// Returns the highest cost of a call with this many tokens. The query names the route; its usage is ignored. If a vendor
    /// charges more for tokens that it writes to its cache, all input counts as such.
    /// `shared` is the currency of a shared budget with money.
    pub(crate) fn worst_case(
        &self,
        route: PriceQuery<'_>,
        input: u64,
        output: u64,
        shared: Option<&Arc<str>>,
    ) -> Result<Spent, PriceError> {
        let tokens = input.saturating_add(output);
        let spent = Spent::new().with_tokens(tokens).with_model_calls(1);
        let uncached = Usage::new(input, output);
        let mut cached = uncached.clone();
        cached.prompt_tokens_details.cache_write_tokens = Some(input);
        let price_of = |usage| {
            let mut query: PriceQuery<'_> = route;
            query.usage = usage;
            self.price_of(query, shared)
        };
        let Some(price) = price_of(&uncached)? else {
            return Ok(spent);
        };
        let higher = price_of(&cached).ok().flatten();
        let higher = higher.filter(|higher| higher.currency == price.currency && higher.micros > price.micros);
        Ok(spent.with_money(&higher.unwrap_or(price)))
    }

    /// Returns the price of a use. Without a money budget, an unusable price counts as `None`.
    pub(crate) fn price_of(
        &self,
        query: PriceQuery<'_>,
        shared: Option<&Arc<str>>,
    ) -> Result<Option<Money>, PriceError> {
        let pool = self.pool.as_ref().map(BudgetPool::budget);
        let limits = || self.currencies(pool.as_ref(), shared);
        let currency = limits().next().map(|currency| &**currency);
        let price = usable_price(self.price.as_ref(), &query.with_currency(currency));
        if currency.is_none() {
            return Ok(price.ok());
        }
        let price = price?;
        match limits().find(|currency| **currency != price.currency) {
            None => Ok(Some(price)),
            Some(currency) => Err(PriceError::Currency {
                model: query.model.to_owned(),
                price: price.currency,
                budget: Arc::clone(currency),
            }),
        }
    }

    /// Returns the cost that a server reported, if the budgets can count it: not negative, and in their currency.
    pub(crate) fn reported_cost(&self, usage: &Usage, shared: Option<&Arc<str>>) -> Option<Money> {
        let cost = usage.cost.as_ref()?.money()?;
        let pool = self.pool.as_ref().map(BudgetPool::budget);
        let mut limits = self.currencies(pool.as_ref(), shared);
        limits.all(|currency| *currency == cost.currency).then_some(cost)
    }

    /// Returns the currencies of all budgets that limit money.
    fn currencies<'b>(
        &'b self,
        pool: Option<&'b Budget>,
        shared: Option<&'b Arc<str>>,
    ) -> impl Iterator<Item = &'b Arc<str>> {
        let budgets = [Some(&self.turn), Some(&self.cycle), pool];
        let limits = budgets.into_iter().flatten().filter_map(|budget| budget.money.as_ref());
        limits.map(|money| &money.currency).chain(shared)
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
