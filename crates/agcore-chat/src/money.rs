//! [`Money`]: an amount of money.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// An exact amount of money, in millionths of a currency's unit.
///
/// ```
/// use agcore_chat::Money;
///
/// assert_eq!(Money::from_micros(1_250, "USD").to_string(), "0.001250 USD");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Money {
    /// The amount in millionths of the currency's unit.
    pub micros: i64,
    /// The currency's ISO 4217 code.
    pub currency: Arc<str>,
}

impl Money {
    /// Creates an amount from millionths of a currency's unit.
    pub fn from_micros(micros: i64, currency: impl Into<Arc<str>>) -> Self {
        Self {
            micros,
            currency: currency.into(),
        }
    }
}

impl fmt::Display for Money {
    /// Formats the amount with six decimals and the currency, like `0.001250 USD`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_six_decimals() {
        for (micros, expected) in [
            (0, "0.000000 USD"),
            (1250, "0.001250 USD"),
            (-12_345_678, "-12.345678 USD"),
        ] {
            assert_eq!(Money::from_micros(micros, "USD").to_string(), expected);
        }
    }
}
