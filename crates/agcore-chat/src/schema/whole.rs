//! [`whole_numbers`]: writes whole floats as the integers that they are.

use std::borrow::Cow;

use serde_json::Value;

/// The smallest whole number that a float can stand for although another one was written: 2^53.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the value with integers in place of whole floats, such as `2` for `2.0` and `300` for `3e2`.
///
/// In JSON Schema, `2.0` is an integer, and some models write it for one, but serde does not deserialize it into an integer type.
/// Numbers with a fraction stay as they are, and so do those of 2^53 and more, because their last digits may have been lost.
///
/// ```
/// use agcore_chat::schema::whole_numbers;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// let value = json!([2.0, 3]);
/// assert!(Vec::<u8>::deserialize(&value).is_err());
/// assert_eq!(Vec::<u8>::deserialize(&*whole_numbers(&value))?, [2, 3]);
///
/// let value = json!({"ratio": 2.5, "distance": 1e300});
/// assert_eq!(*whole_numbers(&value), value);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn whole_numbers(value: &Value) -> Cow<'_, Value> {
    if !has_whole_float(value) {
        return Cow::Borrowed(value);
    }
    let mut value = value.clone();
    write_as_integers(&mut value);
    Cow::Owned(value)
}

fn has_whole_float(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_whole_float),
        Value::Object(members) => members.values().any(has_whole_float),
        value => integer(value).is_some(),
    }
}

fn write_as_integers(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(write_as_integers),
        Value::Object(members) => members.values_mut().for_each(write_as_integers),
        value => {
            if let Some(integer) = integer(value) {
                *value = integer.into();
            }
        }
    }
}

/// Returns the integer that a float is, if it is whole and exact.
fn integer(value: &Value) -> Option<i64> {
    let float = value.as_number().filter(|number| number.is_f64())?.as_f64()?;
    let is_exact = float.fract() == 0.0 && float.abs() < INEXACT;
    #[expect(clippy::cast_possible_truncation, reason = "the number is whole and in range")]
    is_exact.then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(whole_numbers(&value).to_string(), expected);
    }

    #[test]
    fn only_exact_whole_floats_change() {
        check("2.0", "2");
        check("-3e2", "-300");
        check("-0.0", "0");
        check("2.5", "2.5");
        check("9007199254740991.0", "9007199254740991");
        check("9007199254740992.0", "9007199254740992.0");
        check("-9007199254740993.0", "-9007199254740992.0");
        check("1e300", "1e+300");
        check("18446744073709551615", "18446744073709551615");
        check("\"2.0\"", "\"2.0\"");
        check(
            r#"{"b": [1.0, {"a": 2.0}, null], "a": true}"#,
            r#"{"b":[1,{"a":2},null],"a":true}"#,
        );
    }

    #[test]
    fn a_value_without_whole_floats_is_not_copied() {
        assert!(matches!(
            whole_numbers(&json!({"a": [1, 2.5, "3.0", null]})),
            Cow::Borrowed(_)
        ));
    }
}
