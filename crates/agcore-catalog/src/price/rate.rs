//! [`Rate`]: what a million tokens cost.

use std::fmt;

use agcore_chat::{Amount, AmountError};

use crate::problem::Problem;

/// The number of units of an [`Amount`] in the smallest step of a rate, 10⁻¹².
const STEP: i128 = 10_i128.pow(12);

/// The largest rate.
const MAX: Amount = Amount::from_units(10_i128.pow(9 + 24));

/// A price of at least 0 with at most 12 decimals: for a million tokens or characters, or for an image, a second, a minute, a
/// request, a search or a document.
///
/// ```
/// use agcore_catalog::Rate;
///
/// assert_eq!(Rate::parse("input", "0.250")?.to_string(), "0.25");
/// for wrong in ["-1", "1e12", "0.1234567890123", "free", ""] {
///     assert!(Rate::parse("input", wrong).is_err());
/// }
/// # Ok::<(), agcore_catalog::Problem>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Rate(Amount);

impl Rate {
    /// Reads a decimal number. The field is the one that a problem names.
    ///
    /// # Errors
    /// Fails for a text that is not a number, and for numbers that are negative, larger than a billion, or have more than 12
    /// decimals. Nothing is rounded.
    pub fn parse(field: &str, text: &str) -> Result<Self, Problem> {
        let refused = |rule: &str| Err(Problem::text(field, text, rule));
        match text.parse::<Amount>() {
            Ok(amount) if amount.is_negative() => refused("a rate is a decimal number of at least 0, such as 0.25"),
            Err(AmountError::TooLarge) => refused("a rate is at most 1000000000"),
            Ok(amount) if amount > MAX => refused("a rate is at most 1000000000"),
            Ok(amount) if amount.units() % STEP == 0 => Ok(Self(amount)),
            Ok(_) | Err(AmountError::TooPrecise) => {
                refused("a rate has at most 12 decimals, because it is never rounded")
            }
            Err(_) => refused("a rate is a decimal number of at least 0, such as 0.25"),
        }
    }

    /// Returns the rate as an amount.
    pub fn amount(self) -> Amount {
        self.0
    }

    /// Returns whether the rate is 0, which stands for "not set" where another rate can take its place.
    pub fn is_zero(self) -> bool {
        self.0 == Amount::ZERO
    }

    /// Returns the exact price of some tokens, or `None` if it does not fit.
    pub(crate) fn of_tokens(self, tokens: u64) -> Option<Amount> {
        Amount::from_units(self.0.units() / 1_000_000).checked_mul(tokens)
    }

    /// Returns the exact price of some thousandths of a unit, or `None` if it does not fit.
    pub(crate) fn of_thousandths(self, count: u64) -> Option<Amount> {
        Amount::from_units(self.0.units() / 1_000).checked_mul(count)
    }

    /// Returns the price of some milliseconds at a rate for a minute, or `None` if it does not fit. It is rounded half to even at
    /// the 24th decimal, because a minute cannot always be divided exactly.
    pub(crate) fn of_minutes(self, milliseconds: u64) -> Option<Amount> {
        const MINUTE: i128 = 60_000;
        let product = self.0.units().checked_mul(i128::from(milliseconds))?;
        let (quotient, rest) = (product / MINUTE, product % MINUTE);
        let is_up = rest * 2 > MINUTE || rest * 2 == MINUTE && quotient % 2 != 0;
        Some(Amount::from_units(quotient + i128::from(is_up)))
    }

    /// Returns the exact price of some units, or `None` if it does not fit.
    pub(crate) fn of_units(self, count: u64) -> Option<Amount> {
        self.0.checked_mul(count)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
