//! [`Money`]: an amount of money. [`CostTally`]: a sum of several amounts.

mod tally;

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

pub use tally::CostTally;

/// An exact amount of money, in millionths of a currency's unit.
///
/// It is written as a decimal number and the currency's ISO 4217 code, and read from the same form:
///
/// ```
/// use agcore_chat::Money;
///
/// let half: Money = "0.50 USD".parse()?;
/// assert_eq!(half, Money::from_micros(500_000, "USD"));
/// assert_eq!(Money::from_micros(1_250, "USD").to_string(), "0.001250 USD");
/// # Ok::<(), agcore_chat::MoneyError>(())
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

/// A text that is not an exact [`Money`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoneyError {
    /// The text is not a decimal number and a currency.
    #[error("{0:?} is not an amount of money; write a decimal number and a currency, like `0.50 USD`")]
    Invalid(String),
    /// The amount has more than six decimals.
    #[error("{0:?} has more than six decimals, and amounts are never rounded")]
    TooPrecise(String),
    /// The amount is too large.
    #[error("{0:?} is too large")]
    TooLarge(String),
}

/// Reads a decimal number with at most six decimals and a currency of three capital letters, with one space between them.
///
/// # Errors
/// [`MoneyError`] for any other text. Nothing is rounded.
impl FromStr for Money {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let invalid = || MoneyError::Invalid(text.to_owned());
        let (amount, currency) = text.split_once(' ').ok_or_else(invalid)?;
        let (is_negative, digits) = match amount.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, amount),
        };
        let (units, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let is_currency = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase());
        if !is_number(units) || !is_number(decimals) || !is_currency {
            return Err(invalid());
        }
        if decimals.len() > 6 {
            return Err(MoneyError::TooPrecise(text.to_owned()));
        }
        let sign = if is_negative { "-" } else { "" };
        let micros = format!("{sign}{units}{decimals:0<6}").parse();
        let micros = micros.map_err(|_| MoneyError::TooLarge(text.to_owned()))?;
        Ok(Self::from_micros(micros, currency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_exactly_what_is_written() {
        for (text, micros) in [
            ("0.50 USD", 500_000),
            ("12 EUR", 12_000_000),
            ("-0.000001 USD", -1),
            ("007.100000 USD", 7_100_000),
            ("9223372036854.775807 USD", i64::MAX),
            ("-9223372036854.775808 USD", i64::MIN),
        ] {
            let money: Money = text.parse().unwrap();
            assert_eq!(money.micros, micros, "{text}");
            assert_eq!(money.to_string().parse(), Ok(money));
        }
        for text in [
            "",
            "USD",
            "0.50",
            "0.50USD",
            "0.50  USD",
            " 0.50 USD",
            "0.50 USD ",
            "0,50 USD",
            "1e3 USD",
            "+1 USD",
            ".5 USD",
            "5. USD",
            "--1 USD",
            "1_000 USD",
            "0.50 usd",
            "0.50 US",
            "0.5.0 USD",
            "$1 USD",
        ] {
            assert_eq!(
                text.parse::<Money>(),
                Err(MoneyError::Invalid(text.to_owned())),
                "{text:?}"
            );
        }
        let fails = |text: &str| text.parse::<Money>().unwrap_err();
        assert!(matches!(fails("0.0000001 USD"), MoneyError::TooPrecise(_)));
        assert!(matches!(fails("9223372036854.775808 USD"), MoneyError::TooLarge(_)));
    }

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
