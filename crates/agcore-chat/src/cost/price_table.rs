//! [`PriceTable`]: prices per million tokens, model by model.

use std::{fmt, sync::Arc};

use crate::cost::{
    amount::Amount,
    price::{Price, PriceFn, PriceQuery},
    usage::Usage,
};

/// The price of a model's tokens, in millionths of the currency's unit per million tokens: 0.25 USD per million are 250 000.
///
/// Tokens without a price of their own cost as much as other tokens of their side: cached ones as input, reasoning as
/// output.
///
/// ```
/// use agcore_chat::TokenPrice;
///
/// // 1.25 per million tokens of input, 0.125 if they were cached, and 10 per million tokens of output.
/// let price = TokenPrice::new(1_250_000, 10_000_000).with_cached(125_000);
/// assert_eq!(price.cached, Some(125_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct TokenPrice {
    /// The price of input.
    pub input: u64,
    /// The price of input read from the vendor's cache.
    pub cached: Option<u64>,
    /// The price of input written to the vendor's cache.
    pub cache_write: Option<u64>,
    /// The price of output.
    pub output: u64,
    /// The price of output that is reasoning.
    pub reasoning: Option<u64>,
}

impl TokenPrice {
    /// Creates the price of input and output.
    pub const fn new(input: u64, output: u64) -> Self {
        Self {
            input,
            cached: None,
            cache_write: None,
            output,
            reasoning: None,
        }
    }

    /// Sets the price of input read from the vendor's cache.
    pub const fn with_cached(mut self, price: u64) -> Self {
        self.cached = Some(price);
        self
    }

    /// Sets the price of input written to the vendor's cache.
    pub const fn with_cache_write(mut self, price: u64) -> Self {
        self.cache_write = Some(price);
        self
    }

    /// Sets the price of output that is reasoning.
    pub const fn with_reasoning(mut self, price: u64) -> Self {
        self.reasoning = Some(price);
        self
    }

    /// Returns the price of a use in millionths, rounded once, half to even. Returns `None` if the tokens are unknown, or if
    /// the amount is too large.
    fn micros(&self, usage: &Usage) -> Option<i64> {
        let (prompt, completion) = match (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) {
            (Some(prompt), Some(completion), _) => (prompt, completion),
            (Some(prompt), None, Some(total)) => (prompt, total.saturating_sub(prompt)),
            (None, Some(completion), Some(total)) => (total.saturating_sub(completion), completion),
            _ => return None,
        };
        let cached = usage.cached().unwrap_or(0).min(prompt);
        let written = usage.cache_write().unwrap_or(0).min(prompt - cached);
        let reasoning = usage.reasoning().unwrap_or(0).min(completion);
        let terms = [
            (prompt - cached - written, self.input),
            (cached, self.cached.unwrap_or(self.input)),
            (written, self.cache_write.unwrap_or(self.input)),
            (completion - reasoning, self.output),
            (reasoning, self.reasoning.unwrap_or(self.output)),
        ];
        let mut sum = 0_u128;
        for (tokens, price) in terms {
            sum = sum.checked_add(u128::from(tokens).checked_mul(price.into())?)?;
        }
        i64::try_from(divide_half_even(sum, 1_000_000)).ok()
    }
}

fn divide_half_even(amount: u128, by: u128) -> u128 {
    let (quotient, rest) = (amount / by, amount % by);
    let is_up = rest * 2 > by || rest * 2 == by && quotient % 2 == 1;
    quotient + u128::from(is_up)
}

/// A small table of prices in one currency, for programs that use a few models.
///
/// A name that ends in `*` matches all models whose names begin with the text before it. The first matching row is
/// used, so put longer names first. A model without a row has no price, which is not the same as free of charge.
///
/// ```
/// use std::time::SystemTime;
///
/// use agcore_chat::{PriceFn, PriceQuery, PriceTable, TokenPrice, Usage};
///
/// let prices = PriceTable::new("USD")
///     .with_model("gpt-5-mini*", TokenPrice::new(250_000, 2_000_000).with_cached(25_000))
///     .with_model("gpt-5*", TokenPrice::new(1_250_000, 10_000_000).with_cached(125_000))
///     .with_source("list of May 2026");
/// let price = PriceFn::from(prices);
///
/// let usage = Usage::new(2_000, 300);
/// let cost = price(&PriceQuery::new("gpt-5-mini-2025-08-07", &usage, SystemTime::now())).unwrap();
/// assert_eq!(cost.money().unwrap().to_string(), "0.001100 USD");
/// assert!(price(&PriceQuery::new("other", &usage, SystemTime::now())).is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct PriceTable {
    currency: Arc<str>,
    source: Option<String>,
    rows: Vec<(String, TokenPrice)>,
}

impl PriceTable {
    /// Creates an empty table of prices in this currency, given as its ISO 4217 code.
    pub fn new(currency: impl Into<Arc<str>>) -> Self {
        Self {
            currency: currency.into(),
            source: None,
            rows: Vec::new(),
        }
    }

    /// Adds the price of a model, or of all models that begin with the text before a final `*`.
    pub fn with_model(mut self, model: impl Into<String>, price: TokenPrice) -> Self {
        self.rows.push((model.into(), price));
        self
    }

    /// Sets where the prices come from, for audits.
    pub fn with_source(mut self, source: impl fmt::Display) -> Self {
        self.source = Some(source.to_string());
        self
    }

    /// Returns the price of a use, or `None` if it is unknown.
    pub fn price(&self, query: &PriceQuery<'_>) -> Option<Price> {
        let fits = |name: &str| match name.strip_suffix('*') {
            Some(start) => query.model.starts_with(start),
            None => query.model == name,
        };
        let (_, price) = self.rows.iter().find(|(name, _)| fits(name))?;
        let micros = price.micros(query.usage)?;
        let price = Price::new(Amount::from_micros(micros), Arc::clone(&self.currency));
        Some(match &self.source {
            Some(source) => price.with_source(source.as_str()),
            None => price,
        })
    }
}

impl From<PriceTable> for PriceFn {
    fn from(table: PriceTable) -> Self {
        Arc::new(move |query| table.price(query))
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn rounds_the_sum_half_to_even() {
        for (tokens, expected) in [(1, 0), (2, 1), (3, 2), (5, 2), (7, 4), (1_000_000, 500_000)] {
            // Half a micro for each token.
            let price = TokenPrice::new(500_000, 0);
            assert_eq!(price.micros(&Usage::new(tokens, 0)), Some(expected), "{tokens}");
        }
        // The parts are not rounded one by one.
        let price = TokenPrice::new(500_000, 500_000);
        assert_eq!(price.micros(&Usage::new(1, 1)), Some(1));
        assert_eq!(TokenPrice::new(u64::MAX, 1).micros(&Usage::new(u64::MAX, 1)), None);
    }

    #[test]
    fn prices_each_kind_of_token() {
        let price = TokenPrice::new(10_000_000, 100_000_000)
            .with_cached(1_000_000)
            .with_cache_write(20_000_000)
            .with_reasoning(50_000_000);
        let mut usage = Usage::new(1_000, 100);
        usage.prompt_tokens_details.cached_tokens = Some(600);
        usage.prompt_tokens_details.cache_write_tokens = Some(300);
        usage.completion_tokens_details.reasoning_tokens = Some(40);
        assert_eq!(price.micros(&usage), Some(1_000 + 600 + 6_000 + 6_000 + 2_000));
        // More than the whole counts as the whole.
        usage.prompt_tokens_details.cached_tokens = Some(5_000);
        assert_eq!(price.micros(&usage), Some(1_000 + 6_000 + 2_000));
        // A missing number is the rest of the total.
        let mut usage = Usage::new(10, 5);
        usage.prompt_tokens = None;
        assert_eq!(price.micros(&usage), Some(100 + 500));
        usage.total_tokens = None;
        assert_eq!(price.micros(&usage), None);
    }

    #[test]
    fn the_first_row_that_fits_counts() {
        let table = PriceTable::new("USD")
            .with_model("a-small*", TokenPrice::new(1_000_000, 0))
            .with_model("a*", TokenPrice::new(2_000_000, 0))
            .with_model("b", TokenPrice::new(3_000_000, 0));
        let usage = Usage::new(1, 0);
        let micros = |model| {
            let price = table.price(&PriceQuery::new(model, &usage, SystemTime::UNIX_EPOCH));
            price?.amount.micros()
        };
        assert_eq!(
            (micros("a-small-2"), micros("a-large"), micros("b")),
            (Some(1), Some(2), Some(3))
        );
        assert_eq!((micros("b-2"), micros("")), (None, None));
    }
}
