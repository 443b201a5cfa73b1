//! [`same_value`]: compares JSON values, with numbers compared by value and not by notation.

use serde_json::{Number, Value};

/// Returns whether two values are equal. Numbers are equal if they have the same value: `1000`, `1000.0` and `1e3` are,
/// and so are `0` and `-0.0`. The order of the members of an object does not matter. A string is never a number.
pub(crate) fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let has = |(name, value)| b.get(name).is_some_and(|other| same_value(value, other));
            a.len() == b.len() && a.iter().all(has)
        }
        _ => a == b,
    }
}

fn same_number(a: &Number, b: &Number) -> bool {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.as_f64() == b.as_f64(),
        _ => false,
    }
}

/// Returns the exact value of a number that is whole.
fn integer(number: &Number) -> Option<i128> {
    if let Some(integer) = number.as_i128() {
        return Some(integer);
    }
    let float = number.as_f64()?;
    // Every whole number below 2^100 that a float can have is also an exact `i128`.
    let is_exact = float.fract() == 0.0 && float.abs() < 2.0_f64.powi(100);
    #[expect(clippy::cast_possible_truncation, reason = "the number is whole and in range")]
    is_exact.then_some(float as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, expected: bool) {
        let [a, b]: [Value; 2] = [a, b].map(|text| serde_json::from_str(text).unwrap());
        assert_eq!(
            (same_value(&a, &b), same_value(&b, &a)),
            (expected, expected),
            "{a} {b}"
        );
    }

    #[test]
    fn numbers_are_compared_by_value() {
        check("1000", "1000.0", true);
        check("1000", "1e3", true);
        check("1000.0", "1E+3", true);
        check("0", "-0.0", true);
        check("0.5", "5e-1", true);
        check("1000", "1000.5", false);
        check("1", "-1", false);
        check("1000", "\"1000\"", false);
        check("1", "true", false);
        check("null", "0", false);
    }

    #[test]
    fn large_integers_are_compared_exactly() {
        check("9007199254740993", "9007199254740992", false);
        check("9007199254740993", "9007199254740992.0", false);
        check("9007199254740992", "9007199254740992.0", true);
        check("18446744073709551615", "18446744073709551615", true);
        check("18446744073709551615", "18446744073709551616", false);
        check("18446744073709551616", "1.8446744073709551616e19", true);
        check("1e300", "1e300", true);
        check("1e300", "1e301", false);
    }

    #[test]
    fn nested_values_are_compared_in_the_same_way() {
        check(
            r#"{"a": [1, {"b": 2.0}], "c": 0}"#,
            r#"{"c": -0.0, "a": [1.0, {"b": 2}]}"#,
            true,
        );
        check(r#"{"a": 1}"#, r#"{"a": 1, "b": 1}"#, false);
        check("[1, 2]", "[2, 1]", false);
        check("[1]", "[1, 1]", false);
    }
}
