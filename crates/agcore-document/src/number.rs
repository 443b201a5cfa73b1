//! Numbers: decimal texts, without losing digits.

use serde_json::Number;

/// The problem of a number with another base that needs more than 128 bits.
pub(crate) const TOO_LARGE: &str = "the number needs more than 128 bits; write a smaller one";

/// Returns whether a text is a decimal number: `7`, `-0.5`, `+1e3`. Infinity and NaN are not.
pub(crate) fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    let is_part = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<f64>().is_ok()
        && digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && mantissa.split('.').all(is_part)
}

/// Returns the decimal text of a whole number with another base; `None` if it needs more than 128 bits.
pub(crate) fn from_radix(digits: &str, radix: u32) -> Option<String> {
    match radix {
        10 => Some(digits.to_owned()),
        _ => i128::from_str_radix(digits, radix).ok().map(|whole| whole.to_string()),
    }
}

/// Returns whether a decimal number has neither a fraction nor an exponent.
pub(crate) fn is_whole(text: &str) -> bool {
    !text.contains(['.', 'e', 'E'])
}

/// Returns a number without the plus sign that Rust's and JSON's readers refuse.
pub(crate) fn unsigned(text: &str) -> &str {
    text.strip_prefix('+').unwrap_or(text)
}

/// Returns the JSON form of a number, or its text if it has none.
pub(crate) fn to_json(text: &str) -> serde_json::Value {
    let number = unsigned(text);
    if let Ok(whole) = number.parse::<i64>() {
        return whole.into();
    }
    if let Ok(whole) = number.parse::<u64>() {
        return whole.into();
    }
    let number = number.parse::<f64>().ok().and_then(Number::from_f64);
    number.map_or_else(|| text.into(), serde_json::Value::Number)
}
