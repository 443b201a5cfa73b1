//! Texts and values in messages, and whether values are the same.

use serde_json::Value;

/// The longest text of an answer that a message contains, in characters.
const MAX_SHOWN: usize = 300;

/// Returns the beginning of a text, in quotes.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{:?} …", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

/// Returns the beginning of a value as JSON.
pub(super) fn shown_value(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{} …", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Compares values. `1` and `1.0` are the same number.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, value)| other.get(name).is_some_and(|other| is_same(value, other)))
        }
        (one, other) => one == other,
    }
}
