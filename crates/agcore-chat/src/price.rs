//! [`PriceFn`]: what a reply costs.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// An amount of money, exact: millionths of a currency's unit. No float ever takes part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Money {
    /// Millionths of the unit.
    pub micros: i64,
    /// The currency's ISO 4217 code.
    pub currency: Arc<str>,
}

impl Money {
    /// So many millionths of a currency's unit.
    pub fn from_micros(micros: i64, currency: impl Into<Arc<str>>) -> Self {
        Self {
            micros,
            currency: currency.into(),
        }
    }
}

impl fmt::Display for Money {
    /// Six decimals and the currency: `0.001250 USD`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, micros) = (if self.micros < 0 { "-" } else { "" }, self.micros.unsigned_abs());
        write!(
            f,
            "{sign}{}.{:06} {}",
            micros / 1_000_000,
            micros % 1_000_000,
            self.currency
        )
    }
}

/// The price of a model's reply; `None` when it is not known, which is never the same as nothing.
pub type PriceFn = Arc<dyn Fn(&str, &Usage) -> Option<Money> + Send + Sync>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_six_decimals() {
        for (micros, expected) in [
            (0, "0.000000 USD"),
            (1250, "0.001250 USD"),
            (-12_345_678, "-12.345678 USD"),
        ] {
            assert_eq!(Money::from_micros(micros, "USD").to_string(), expected);
        }
    }
}
