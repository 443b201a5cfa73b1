//! [`CostTally`]: the sum of the costs of several model calls.

use std::collections::BTreeMap;

use super::Money;

/// The cost of several model calls. A cost that is unknown is never counted as 0.
///
/// ```
/// use agcore_chat::{CostTally, Money};
///
/// let mut tally = CostTally::default();
/// tally.add(&Money::from_micros(1_500, "USD"));
/// assert_eq!(tally.text(1), "0.001500 USD");
/// assert_eq!(tally.exact(2), None, "the cost of the second call is unknown");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CostTally {
    /// The amount of each currency, in millionths of its unit.
    micros: BTreeMap<String, i64>,
    /// The number of calls whose cost is known.
    known: u64,
}

impl CostTally {
    /// Adds a call whose cost is known.
    pub fn add(&mut self, cost: &Money) {
        let sum = self.micros.entry(cost.currency.to_string()).or_default();
        *sum = sum.saturating_add(cost.micros);
        self.known += 1;
    }

    /// Returns the amount if it is known for all of this many calls, and in one currency.
    pub fn exact(&self, calls: u64) -> Option<Money> {
        let mut amounts = self.micros.iter();
        match (amounts.next(), amounts.next()) {
            (Some((currency, micros)), None) if self.known == calls => {
                Some(Money::from_micros(*micros, currency.as_str()))
            }
            _ => None,
        }
    }

    /// Describes the cost of this many calls. Unknown costs are never counted as 0.
    pub fn text(&self, calls: u64) -> String {
        let amount = |(currency, micros): (&String, &i64)| Money::from_micros(*micros, currency.as_str()).to_string();
        let amounts: Vec<String> = self.micros.iter().map(amount).collect();
        let unknown = calls.saturating_sub(self.known);
        match (self.known, unknown) {
            (0, 0) => "no model call".to_owned(),
            (0, _) => "unknown".to_owned(),
            (_, 0) => amounts.join(" + "),
            (_, unknown) => format!(
                "at least {}; the price of {unknown} of {calls} calls is unknown",
                amounts.join(" + ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_price_is_never_zero() {
        let mut tally = CostTally::default();
        assert_eq!(tally.text(0), "no model call");
        assert_eq!((tally.text(2).as_str(), tally.exact(2)), ("unknown", None));
        tally.add(&Money::from_micros(1_500, "USD"));
        assert_eq!(tally.text(1), "0.001500 USD");
        assert_eq!(tally.exact(1), Some(Money::from_micros(1_500, "USD")));
        assert_eq!(
            tally.text(3),
            "at least 0.001500 USD; the price of 2 of 3 calls is unknown"
        );
        assert_eq!(tally.exact(3), None);
        tally.add(&Money::from_micros(2, "CNY"));
        assert_eq!(
            (tally.text(2).as_str(), tally.exact(2)),
            ("0.000002 CNY + 0.001500 USD", None)
        );
    }
}
