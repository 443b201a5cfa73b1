//! [`Amount`]: an exact decimal number.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The number of decimals.
const SCALE: usize = 24;

/// One, as a number of the smallest unit.
const ONE: i128 = 10_i128.pow(SCALE as u32);

/// One millionth.
const MICRO: i128 = ONE / 1_000_000;

/// The number of digits of the largest amount.
const MAX_DIGITS: i64 = 39;

/// An exact decimal number with 24 decimals, for amounts of money that are added before they are rounded once.
///
/// The largest amount is about 170 trillion. Nothing is ever cut or wrapped: what does not fit is an error or `None`.
/// It is read from the text of a JSON number, and written without zeros at its end.
///
/// ```
/// use agcore_chat::Amount;
///
/// let sum = "0.1".parse::<Amount>()?.checked_add("2e-7".parse()?).unwrap();
/// assert_eq!(sum.to_string(), "0.1000002");
/// // Rounded to six decimals, half to even.
/// assert_eq!(sum.rounded().to_six_decimals(), "0.100000");
/// assert_eq!("0.0000005".parse::<Amount>()?.micros(), Some(0));
/// # Ok::<(), agcore_chat::AmountError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Amount(i128);

/// A text that is not an [`Amount`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AmountError {
    /// The text is not a decimal number as in JSON.
    #[error("it is not a decimal number; write digits, with a point before the decimals")]
    Invalid,
    /// The number has more than 24 decimals, and rounding was not allowed.
    #[error("it has more than 24 decimals; shorten it")]
    TooPrecise,
    /// The number is too large.
    #[error("it is too large; amounts end at about 170 trillion")]
    TooLarge,
}

impl Amount {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// Creates an amount from units of 10⁻²⁴.
    pub const fn from_units(units: i128) -> Self {
        Self(units)
    }

    /// Creates an amount from millionths.
    pub const fn from_micros(micros: i64) -> Self {
        // The product of both is less than 2^127.
        Self(micros as i128 * MICRO)
    }

    /// Returns the amount in units of 10⁻²⁴.
    pub const fn units(self) -> i128 {
        self.0
    }

    /// Reads a decimal number, with decimals after the 24th rounded half to even.
    ///
    /// # Errors
    /// `Invalid` or `TooLarge`.
    pub fn parse_rounded(text: &str) -> Result<Self, AmountError> {
        parse(text, true)
    }

    /// Returns the sum, or `None` if it is too large.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// Returns the product with a whole number, or `None` if it is too large.
    #[must_use]
    pub fn checked_mul(self, factor: u64) -> Option<Self> {
        self.0.checked_mul(i128::from(factor)).map(Self)
    }

    /// Returns whether the amount is less than zero.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Rounds to six decimals, half to even.
    #[must_use]
    pub const fn rounded(self) -> Self {
        let (quotient, rest) = (self.0.div_euclid(MICRO), self.0.rem_euclid(MICRO));
        let is_up = rest * 2 > MICRO || rest * 2 == MICRO && quotient % 2 != 0;
        // Near the limits, the rounded amount may not fit; it is then rounded down.
        match (quotient + is_up as i128).checked_mul(MICRO) {
            Some(units) => Self(units),
            None => Self(quotient.saturating_add(if self.0 < 0 { 1 } else { 0 }) * MICRO),
        }
    }

    /// Returns the millionths after rounding half to even, or `None` if they do not fit.
    pub fn micros(self) -> Option<i64> {
        i64::try_from(self.rounded().0 / MICRO).ok()
    }

    /// Writes the amount with exactly six decimals, rounded half to even.
    pub fn to_six_decimals(self) -> String {
        let micros = self.rounded().0 / MICRO;
        let (sign, micros) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
        format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000)
    }
}

/// Formats the amount exactly, without zeros at the end of the decimals.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = ONE.unsigned_abs();
        let (sign, units) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        write!(f, "{sign}{}", units / one)?;
        match units % one {
            0 => Ok(()),
            decimals => write!(f, ".{}", format!("{decimals:0SCALE$}").trim_end_matches('0')),
        }
    }
}

/// Reads a decimal number exactly.
impl FromStr for Amount {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, AmountError> {
        parse(text, false)
    }
}

impl TryFrom<String> for Amount {
    type Error = AmountError;

    fn try_from(text: String) -> Result<Self, AmountError> {
        text.parse()
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> Self {
        amount.to_string()
    }
}

/// The parts of the text of a JSON number.
struct Parts<'t> {
    is_negative: bool,
    whole: &'t str,
    decimals: &'t str,
    exponent: i64,
}

fn split(text: &str) -> Option<Parts<'_>> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if !is_digits(digits) {
                return None;
            }
            let limit = if exponent.starts_with('-') {
                i64::MIN / 2
            } else {
                i64::MAX / 2
            };
            let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
            (
                mantissa,
                exponent.parse().unwrap_or(limit).clamp(i64::MIN / 2, i64::MAX / 2),
            )
        }
        None => (text, 0),
    };
    let (is_negative, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, mantissa),
    };
    let (whole, decimals) = match digits.split_once('.') {
        Some((whole, decimals)) if is_digits(decimals) => (whole, decimals),
        Some(_) => return None,
        None => (digits, ""),
    };
    let is_whole = is_digits(whole) && (whole.len() == 1 || !whole.starts_with('0'));
    is_whole.then_some(Parts {
        is_negative,
        whole,
        decimals,
        exponent,
    })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn parse(text: &str, is_rounded: bool) -> Result<Amount, AmountError> {
    let parts = split(text).ok_or(AmountError::Invalid)?;
    let digits: Vec<u8> = parts
        .whole
        .bytes()
        .chain(parts.decimals.bytes())
        .skip_while(|digit| *digit == b'0')
        .collect();
    let trimmed = digits
        .iter()
        .rposition(|digit| *digit != b'0')
        .map_or(0, |last| last + 1);
    let length = |count: usize| i64::try_from(count).unwrap_or(i64::MAX / 4);
    // The value is that of all digits with this power of ten, in the smallest unit.
    let power = SCALE as i64 - length(parts.decimals.len()) + parts.exponent + length(digits.len() - trimmed);
    let digits = &digits[..trimmed];
    let size = length(digits.len()).saturating_add(power);
    if digits.is_empty() {
        return Ok(Amount::ZERO);
    }
    if size > MAX_DIGITS {
        return Err(AmountError::TooLarge);
    }
    if power < 0 && !is_rounded {
        return Err(AmountError::TooPrecise);
    }
    let kept = usize::try_from(size.min(length(digits.len()))).unwrap_or(0);
    let mut units: u128 = 0;
    for digit in &digits[..kept] {
        units = units * 10 + u128::from(digit - b'0');
    }
    if power >= 0 {
        let factor = u32::try_from(power).ok().and_then(|power| 10_u128.checked_pow(power));
        units = factor
            .and_then(|factor| units.checked_mul(factor))
            .ok_or(AmountError::TooLarge)?;
    } else if size >= 0 {
        // The first digit that is dropped decides, unless it is exactly a half.
        let (first, rest) = (digits[kept], &digits[kept + 1..]);
        let is_up = first > b'5' || first == b'5' && (!rest.is_empty() || units % 2 == 1);
        units += u128::from(is_up);
    }
    let units = i128::try_from(units).map_err(|_| AmountError::TooLarge)?;
    Ok(Amount(if parts.is_negative { -units } else { units }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, AmountError>) {
        let amount = text.parse::<Amount>().map(|amount| amount.to_string());
        assert_eq!(amount, expected.map(str::to_owned), "{text:?}");
    }

    #[test]
    fn reads_numbers_of_json_exactly() {
        for (text, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("0.0", "0"),
            ("1", "1"),
            ("-1.50", "-1.5"),
            ("1e2", "100"),
            ("1.5E-3", "0.0015"),
            ("12.30e+1", "123"),
            ("1500e-2", "15"),
            ("0e999999999999999999999", "0"),
            ("0.000000000000000000000001", "0.000000000000000000000001"),
            ("1000000000000000000000000000000e-30", "1"),
            (
                "170141183460469.231731687303715884105727",
                "170141183460469.231731687303715884105727",
            ),
            (
                "-170141183460469.231731687303715884105727",
                "-170141183460469.231731687303715884105727",
            ),
        ] {
            check(text, Ok(expected));
            let json = serde_json::to_string(&text.parse::<Amount>().unwrap()).unwrap();
            assert_eq!(json, format!("\"{expected}\""));
        }
        for text in [
            "", "-", "+1", "01", "1.", ".5", "1e", "1e+", "e5", "1 ", " 1", "0x1", "NaN", "Infinity", "1,5", "1_0",
            "--1", "1.5.0", "½", "１",
        ] {
            check(text, Err(AmountError::Invalid));
        }
        for text in ["0.0000000000000000000000001", "1e-25", "1e-99999999999999999999"] {
            check(text, Err(AmountError::TooPrecise));
        }
        for text in [
            "170141183460469.231731687303715884105728",
            "1e15",
            "1e99999999999999999999",
            "999999999999999999999",
        ] {
            check(text, Err(AmountError::TooLarge));
        }
        check(&format!("0.{}", "0".repeat(100_000)), Ok("0"));
    }

    #[test]
    fn rounds_after_the_last_decimal_half_to_even() {
        for (text, units) in [
            ("5e-25", 0),
            ("15e-25", 2),
            ("25e-25", 2),
            ("25.000001e-25", 3),
            ("-15e-25", -2),
            ("4.9e-25", 0),
            ("51e-26", 1),
            ("9e-26", 0),
            ("1e-999", 0),
            ("0.9999999999999999999999999", ONE),
        ] {
            assert_eq!(Amount::parse_rounded(text), Ok(Amount(units)), "{text}");
        }
    }

    #[test]
    fn rounds_to_six_decimals_half_to_even() {
        for (text, expected) in [
            ("0.0000005", "0.000000"),
            ("0.0000015", "0.000002"),
            ("0.0000025", "0.000002"),
            ("0.000002500000000000000001", "0.000003"),
            ("-0.0000005", "0.000000"),
            ("-0.0000015", "-0.000002"),
            ("1.9999995", "2.000000"),
        ] {
            let amount: Amount = text.parse().unwrap();
            assert_eq!(amount.to_six_decimals(), expected, "{text}");
            assert_eq!(amount.rounded().to_six_decimals(), expected, "{text}");
        }
        for amount in [Amount(i128::MAX), Amount(i128::MIN)] {
            let distance = amount.0.abs_diff(amount.rounded().0);
            assert!(distance <= MICRO.unsigned_abs(), "{distance}");
            assert_eq!(amount.micros(), None);
        }
        assert_eq!(Amount::from_micros(i64::MIN).micros(), Some(i64::MIN));
    }

    #[test]
    fn sums_and_products_that_do_not_fit_are_none() {
        let max = Amount(i128::MAX);
        assert_eq!(max.checked_add(Amount(1)), None);
        assert_eq!(max.checked_mul(2), None);
        assert_eq!(Amount(3).checked_mul(5), Some(Amount(15)));
    }
}
