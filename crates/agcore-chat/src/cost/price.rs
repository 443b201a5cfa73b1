//! [`PriceFn`]: computes the price of a use of a model.

use std::{sync::Arc, time::SystemTime};

use serde::{Deserialize, Serialize};

use crate::{
    cost::{amount::Amount, money::Money, usage::Usage},
    small_text::Text,
};

/// A request for the price of a use of a model.
///
/// Before a call, a budget asks for the price of each route that could answer it, with the worst case as usage. After
/// the call it asks for the route that did answer, with the reported usage.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PriceQuery<'a> {
    /// The name of the provider; empty if unknown.
    pub provider: &'a str,
    /// The model.
    pub model: &'a str,
    /// The name of the key that the call is made with, if keys have names. Never the key itself.
    pub key: Option<&'a str>,
    /// The service tier of the reply, or else of the request.
    pub service_tier: Option<&'a str>,
    /// The time at which the request was sent.
    pub at: SystemTime,
    /// The tokens.
    pub usage: &'a Usage,
    /// The currency that the budget counts in, if one is known: an ISO 4217 code.
    pub currency: Option<&'a str>,
}

impl<'a> PriceQuery<'a> {
    /// Creates a query for a use of a model.
    pub fn new(model: &'a str, usage: &'a Usage, at: SystemTime) -> Self {
        Self {
            provider: "",
            model,
            key: None,
            service_tier: None,
            at,
            usage,
            currency: None,
        }
    }

    /// Sets the name of the provider.
    #[must_use]
    pub fn with_provider(mut self, provider: &'a str) -> Self {
        self.provider = provider;
        self
    }

    /// Sets the name of the key.
    #[must_use]
    pub fn with_key(mut self, key: Option<&'a str>) -> Self {
        self.key = key;
        self
    }

    /// Sets the service tier.
    #[must_use]
    pub fn with_service_tier(mut self, tier: Option<&'a str>) -> Self {
        self.service_tier = tier;
        self
    }

    /// Sets the currency that the budget counts in.
    #[must_use]
    pub fn with_currency(mut self, currency: Option<&'a str>) -> Self {
        self.currency = currency;
        self
    }
}

/// The price of a use of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Price {
    /// The exact amount.
    pub amount: Amount,
    /// The currency's ISO 4217 code.
    pub currency: Arc<str>,
    /// Where the price comes from, such as the name and version of a price list; for audits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Text>,
}

impl Price {
    /// Creates a price without a source.
    pub fn new(amount: Amount, currency: impl Into<Arc<str>>) -> Self {
        Self {
            amount,
            currency: currency.into(),
            source: None,
        }
    }

    /// Returns the amount rounded to six decimals, half to even, or `None` if it is too large for [`Money`].
    pub fn money(&self) -> Option<Money> {
        Some(Money::from_micros(self.amount.micros()?, Arc::clone(&self.currency)))
    }

    /// Sets where the price comes from.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Text>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl From<Money> for Price {
    fn from(money: Money) -> Self {
        Self::new(Amount::from_micros(money.micros), money.currency)
    }
}

/// Returns the price of a use of a model, or `None` if it is unknown, which is not the same as free of charge.
///
/// ```
/// use std::{sync::Arc, time::SystemTime};
///
/// use agcore_chat::{Amount, Price, PriceFn, PriceQuery, Usage};
///
/// let price: PriceFn = Arc::new(|query| match query.model {
///     "small" => {
///         let rate = Amount::from_micros(2);
///         Some(Price::new(rate.checked_mul(query.usage.total()?)?, "USD").with_source("list of May 2026"))
///     }
///     _ => None,
/// });
///
/// let usage = Usage::new(400, 100);
/// let small = price(&PriceQuery::new("small", &usage, SystemTime::UNIX_EPOCH));
/// assert_eq!(small.unwrap().money().unwrap().to_string(), "0.001000 USD");
/// assert_eq!(price(&PriceQuery::new("unknown", &usage, SystemTime::UNIX_EPOCH)), None);
/// ```
pub type PriceFn = Arc<dyn Fn(&PriceQuery<'_>) -> Option<Price> + Send + Sync>;
