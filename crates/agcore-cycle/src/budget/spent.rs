//! [`Spent`]: an amount of each resource that a budget can limit.

use std::{collections::BTreeMap, ops::Not, sync::Arc, time::Duration};

use agcore_chat::Money;
use serde::{Deserialize, Serialize};

/// An amount of each resource that a budget can limit: spent, reserved or requested. Never negative.
///
/// ```
/// use agcore_chat::Money;
/// use agcore_cycle::Spent;
///
/// let mut spent = Spent::new().with_tokens(120).with_money(&Money::from_micros(600, "USD"));
/// spent.add(&Spent::new().with_tokens(80).with_tool_calls(1));
/// assert_eq!((spent.tokens, spent.tool_calls, spent.micros("USD")), (200, 1, 600));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Spent {
    /// Input and output tokens.
    pub tokens: u64,
    /// The amount of each currency, in millionths of its unit, by currency code.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub money: BTreeMap<Arc<str>, u64>,
    /// Running time in microseconds, excluding time spent waiting for a person.
    pub time_us: u64,
    /// Model calls that returned at least a part of an answer, or were given up after they had been sent.
    pub model_calls: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Whether a part is an estimate, because the usage of a call is unknown: the server did not report it, or the call was
    /// given up before it did.
    #[serde(skip_serializing_if = "Not::not")]
    pub estimated: bool,
}

impl Spent {
    /// Creates an amount of zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = tokens;
        self
    }

    /// Adds money. A negative amount counts as zero.
    #[must_use]
    pub fn with_money(mut self, money: &Money) -> Self {
        let micros = u64::try_from(money.micros).unwrap_or(0);
        add(self.money.entry(Arc::clone(&money.currency)).or_default(), micros);
        self
    }

    /// Sets the time.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time_us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self
    }

    /// Sets the model calls.
    #[must_use]
    pub fn with_model_calls(mut self, calls: u64) -> Self {
        self.model_calls = calls;
        self
    }

    /// Sets the tool calls.
    #[must_use]
    pub fn with_tool_calls(mut self, calls: u64) -> Self {
        self.tool_calls = calls;
        self
    }

    /// Returns the running time.
    pub fn time(&self) -> Duration {
        Duration::from_micros(self.time_us)
    }

    /// Returns the amount of a currency, in millionths of its unit.
    pub fn micros(&self, currency: &str) -> u64 {
        self.money.get(currency).copied().unwrap_or(0)
    }

    /// Returns whether all amounts are zero.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Adds another amount. Sums saturate.
    pub fn add(&mut self, other: &Self) {
        add(&mut self.tokens, other.tokens);
        for (currency, micros) in &other.money {
            add(self.money.entry(Arc::clone(currency)).or_default(), *micros);
        }
        add(&mut self.time_us, other.time_us);
        add(&mut self.model_calls, other.model_calls);
        add(&mut self.tool_calls, other.tool_calls);
        self.estimated |= other.estimated;
    }

    /// Raises each amount to that of `other`, if it is higher.
    pub(crate) fn raise_to(&mut self, other: &Self) {
        self.tokens = self.tokens.max(other.tokens);
        for (currency, micros) in &other.money {
            let own = self.money.entry(Arc::clone(currency)).or_default();
            *own = (*own).max(*micros);
        }
        self.time_us = self.time_us.max(other.time_us);
        self.model_calls = self.model_calls.max(other.model_calls);
        self.tool_calls = self.tool_calls.max(other.tool_calls);
        self.estimated |= other.estimated;
    }

    /// Subtracts another amount. Differences stop at zero.
    pub(super) fn subtract(&mut self, other: &Self) {
        let subtract = |from: &mut u64, less: u64| *from = from.saturating_sub(less);
        subtract(&mut self.tokens, other.tokens);
        for (currency, micros) in &other.money {
            if let Some(from) = self.money.get_mut(currency) {
                subtract(from, *micros);
            }
        }
        self.money.retain(|_, micros| *micros > 0);
        subtract(&mut self.time_us, other.time_us);
        subtract(&mut self.model_calls, other.model_calls);
        subtract(&mut self.tool_calls, other.tool_calls);
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}
