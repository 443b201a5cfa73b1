//! [`Spent`]: an amount of everything that a budget can limit.

use std::{collections::BTreeMap, ops::Not, sync::Arc, time::Duration};

use agcore_chat::Money;
use serde::{Deserialize, Serialize};

/// An amount of everything that a budget can limit: spent, reserved, or wanted. Never negative.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Spent {
    /// Tokens, in and out.
    pub tokens: u64,
    /// Millionths of each currency's unit, by its code.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub money: BTreeMap<Arc<str>, u64>,
    /// Time of running, that of waiting for a person not counted, in microseconds.
    pub time_us: u64,
    /// Calls of a model that returned any part of an answer.
    pub model_calls: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Whether some of it is an estimate: a server did not tell what a call used.
    #[serde(skip_serializing_if = "Not::not")]
    pub estimated: bool,
}

impl Spent {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the tokens.
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = tokens;
        self
    }

    /// Adds money; an amount below zero counts as nothing.
    pub fn with_money(mut self, money: &Money) -> Self {
        let micros = u64::try_from(money.micros).unwrap_or(0);
        add(self.money.entry(Arc::clone(&money.currency)).or_default(), micros);
        self
    }

    /// Sets the time.
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time_us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self
    }

    /// Sets the calls of a model.
    pub fn with_model_calls(mut self, calls: u64) -> Self {
        self.model_calls = calls;
        self
    }

    /// Sets the calls of tools.
    pub fn with_tool_calls(mut self, calls: u64) -> Self {
        self.tool_calls = calls;
        self
    }

    /// The time.
    pub fn time(&self) -> Duration {
        Duration::from_micros(self.time_us)
    }

    /// Millionths of a currency's unit.
    pub fn micros(&self, currency: &str) -> u64 {
        self.money.get(currency).copied().unwrap_or(0)
    }

    /// Whether there is nothing in it.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Adds another amount, saturating.
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

    /// Takes another amount away, down to nothing.
    pub(super) fn take(&mut self, other: &Self) {
        let take = |from: &mut u64, less: u64| *from = from.saturating_sub(less);
        take(&mut self.tokens, other.tokens);
        for (currency, micros) in &other.money {
            if let Some(from) = self.money.get_mut(currency) {
                take(from, *micros);
            }
        }
        self.money.retain(|_, micros| *micros > 0);
        take(&mut self.time_us, other.time_us);
        take(&mut self.model_calls, other.model_calls);
        take(&mut self.tool_calls, other.tool_calls);
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}
