//! [`Tokens`] and [`Cost`] in machine-readable output.

use agcore::chat::{Money, ReportedCost, Usage, UsageTracker};
use schemars::JsonSchema;
use serde::Serialize;

/// Counted tokens. Counters that the server did not report are null.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Tokens {
    /// All tokens of the prompt, including those read from and written to a cache.
    pub(crate) input: Option<u64>,
    /// The part of the input that was read from a cache.
    pub(crate) cache_read: Option<u64>,
    /// The part of the input that was written to a cache.
    pub(crate) cache_write: Option<u64>,
    /// All generated tokens, including reasoning.
    pub(crate) output: Option<u64>,
    /// The part of the output that was reasoning.
    pub(crate) reasoning: Option<u64>,
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Self {
        Self {
            input: usage.prompt_tokens,
            cache_read: usage.cached(),
            cache_write: usage.cache_write(),
            output: usage.completion_tokens,
            reasoning: usage.reasoning(),
        }
    }
}

/// The tokens of several model calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct UsageTotals {
    #[serde(flatten)]
    pub(crate) tokens: Tokens,
    /// The number of calls.
    pub(crate) calls: u64,
    /// Whether every call reported its tokens. Otherwise the sums are too low.
    pub(crate) complete: bool,
}

impl From<&UsageTracker> for UsageTotals {
    fn from(tracker: &UsageTracker) -> Self {
        Self {
            tokens: Tokens::from(&tracker.usage),
            calls: tracker.calls,
            complete: tracker.is_complete(),
        }
    }
}

/// The cost of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Cost {
    /// The amount as a decimal number; null if it is unknown, which is not the same as free of charge.
    pub(crate) amount: Option<String>,
    /// The currency's ISO 4217 code.
    pub(crate) currency: Option<String>,
    /// Whether this is the amount that the server reported, and not an estimate.
    pub(crate) exact: bool,
    /// The price table that an estimate is based on.
    pub(crate) price_table: Option<String>,
}

impl Cost {
    /// Returns the cost that the server reported. It is unknown unless each call of the turn reported it.
    pub(super) fn reported(turn: &UsageTracker, calls_with_cost: u64) -> Self {
        match turn.usage.cost.as_ref().and_then(ReportedCost::money) {
            Some(cost) if calls_with_cost == turn.calls => {
                let text = cost.to_string();
                let amount = text.split(' ').next().unwrap_or_default();
                Self {
                    amount: Some(amount.to_owned()),
                    currency: Some(cost.currency.to_string()),
                    exact: true,
                    price_table: None,
                }
            }
            _ => Self::default(),
        }
    }

    /// Returns an estimate that is based on this price table.
    pub(super) fn estimated(cost: &Money, price_table: &str) -> Self {
        let text = cost.to_string();
        let amount = text.split(' ').next().unwrap_or_default();
        Self {
            amount: Some(amount.to_owned()),
            currency: Some(cost.currency.to_string()),
            exact: false,
            price_table: Some(price_table.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_counters_are_null() {
        let tokens = serde_json::to_value(Tokens::from(&Usage::new(3, 2))).unwrap();
        let expected = serde_json::json!({"input": 3, "cache_read": null, "cache_write": null, "output": 2,
            "reasoning": null});
        assert_eq!(tokens, expected);
    }

    #[test]
    fn a_cost_is_known_only_if_every_call_reported_it() {
        let mut turn = UsageTracker::default();
        let usage = Usage {
            cost: Some(Money::from_micros(1_250, "USD").into()),
            ..Usage::new(3, 2)
        };
        turn.record(Some(&usage));
        let cost = Cost::reported(&turn, 1);
        assert_eq!(
            (cost.amount.as_deref(), cost.currency.as_deref(), cost.exact),
            (Some("0.001250"), Some("USD"), true)
        );
        turn.record(None);
        assert_eq!(Cost::reported(&turn, 1), Cost::default());
    }
}
