//! [`ReportedCost`]: the cost of a call, as the provider reported it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cost::{amount::Amount, money::Money};

/// The cost of a call, as the provider reported it next to the tokens: an exact amount and its currency.
///
/// ```
/// use agcore_chat::ReportedCost;
///
/// let mut cost = ReportedCost::new("0.0000113".parse()?, "USD");
/// cost.add(&ReportedCost::new("0.0000004".parse()?, "USD"));
/// assert_eq!(cost.amount().unwrap().to_string(), "0.0000117");
/// assert_eq!(cost.money().unwrap().to_string(), "0.000012 USD");
/// # Ok::<(), agcore_chat::AmountError>(())
/// ```
// Few providers report costs, and there is a `Usage` in many places: it pays only one word for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Parts")]
pub struct ReportedCost(Arc<Parts>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Parts {
    amount: Option<Amount>,
    currency: Arc<str>,
}

/// The forms in which costs were saved.
#[derive(Deserialize)]
#[serde(untagged)]
enum Saved {
    /// Until amounts were exact.
    Micros {
        micros: i64,
        currency: Arc<str>,
    },
    Exact(Parts),
}

impl From<Saved> for ReportedCost {
    fn from(saved: Saved) -> Self {
        match saved {
            Saved::Micros { micros, currency } => Self::new(Amount::from_micros(micros), currency),
            Saved::Exact(parts) => Self(Arc::new(parts)),
        }
    }
}

impl From<ReportedCost> for Parts {
    fn from(cost: ReportedCost) -> Self {
        Arc::unwrap_or_clone(cost.0)
    }
}

impl ReportedCost {
    /// Creates a cost. One below 0 is unusable.
    pub fn new(amount: Amount, currency: impl Into<Arc<str>>) -> Self {
        Self(Arc::new(Parts {
            amount: Some(amount).filter(|amount| !amount.is_negative()),
            currency: currency.into(),
        }))
    }

    /// Creates the cost of a report that is not an amount.
    pub fn unusable(currency: impl Into<Arc<str>>) -> Self {
        let (amount, currency) = (None, currency.into());
        Self(Arc::new(Parts { amount, currency }))
    }

    /// Returns the amount, or `None` if what was reported is not an amount of at least 0, which is not the same as no report.
    pub fn amount(&self) -> Option<Amount> {
        self.0.amount
    }

    /// Returns the currency's ISO 4217 code.
    pub fn currency(&self) -> &Arc<str> {
        &self.0.currency
    }

    /// Returns the amount rounded to six decimals, half to even, or `None` if it is unusable or too large for [`Money`].
    pub fn money(&self) -> Option<Money> {
        Some(Money::from_micros(
            self.0.amount?.micros()?,
            Arc::clone(&self.0.currency),
        ))
    }

    /// Adds a cost in the same currency; one in another currency is not added. A sum with an unusable part, or one that does
    /// not fit, is unusable.
    pub fn add(&mut self, other: &Self) {
        if self.0.currency == other.0.currency {
            let parts = self.0.amount.zip(other.0.amount);
            Arc::make_mut(&mut self.0).amount = parts.and_then(|(sum, more)| sum.checked_add(more));
        }
    }
}

impl From<Money> for ReportedCost {
    fn from(money: Money) -> Self {
        Self::new(Amount::from_micros(money.micros), money.currency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(amount: &str, currency: &str) -> ReportedCost {
        ReportedCost::new(amount.parse().unwrap(), currency)
    }

    #[test]
    fn every_saved_form_is_read() {
        for (json, expected) in [
            (r#"{"micros": 12, "currency": "USD"}"#, cost("0.000012", "USD")),
            (r#"{"amount": "1.13e-5", "currency": "USD"}"#, cost("0.0000113", "USD")),
            (r#"{"amount": null, "currency": "USD"}"#, ReportedCost::unusable("USD")),
            (r#"{"micros": -1, "currency": "USD"}"#, ReportedCost::unusable("USD")),
        ] {
            assert_eq!(serde_json::from_str::<ReportedCost>(json).unwrap(), expected, "{json}");
        }
        let json = serde_json::to_string(&cost("0.0000113", "USD")).unwrap();
        assert_eq!(json, r#"{"amount":"0.0000113","currency":"USD"}"#);
        for json in [r#"{"amount": "-", "currency": "USD"}"#, r#"{"currency": 1}"#, "7"] {
            serde_json::from_str::<ReportedCost>(json).unwrap_err();
        }
    }

    #[test]
    fn sums_are_exact_or_unusable() {
        let mut sum = cost("0.000000000000000000000001", "USD");
        sum.add(&cost("2", "USD"));
        sum.add(&cost("5", "EUR"));
        assert_eq!(sum, cost("2.000000000000000000000001", "USD"));
        assert_eq!(sum.money(), Some(Money::from_micros(2_000_000, "USD")));
        let mut large = cost("170000000000000", "USD");
        assert_eq!(large.money(), None);
        large.add(&large.clone());
        assert_eq!(large, ReportedCost::unusable("USD"));
        sum.add(&ReportedCost::unusable("USD"));
        assert_eq!((sum.amount(), sum.money()), (None, None));
    }
}
