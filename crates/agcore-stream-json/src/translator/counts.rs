//! Translates faults, counted tokens and costs.

use agcore_chat::{Fault, Money, ReportedCost, Usage, UsageTracker};

use crate::{
    failure::ErrorInfo,
    tokens::{Cost, Tokens, UsageTotals},
};

impl From<&Fault> for ErrorInfo {
    fn from(fault: &Fault) -> Self {
        Self::new(fault.kind.as_str(), fault.message.clone())
    }
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

impl From<&UsageTracker> for UsageTotals {
    fn from(tracker: &UsageTracker) -> Self {
        Self {
            tokens: Tokens::from(&tracker.usage),
            calls: tracker.calls,
            complete: tracker.is_complete(),
        }
    }
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
