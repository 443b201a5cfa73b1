//! [`object`]: JSON that a person has typed, if nothing of it would be lost.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The integers up to which a number with a fraction has no neighbours that are lost: 2 to the power of 53.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads an object exactly as it was typed: names that occur twice, and numbers that cannot be kept, are errors.
///
/// # Errors
/// A sentence that names the mistake and its place.
pub(super) fn object(text: &str) -> Result<Map<String, Value>, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Exact
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value));
    match value {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err("the arguments must be a JSON object, such as {\"name\": \"value\"}".to_owned()),
        Err(error) => Err(format!(
            "the arguments are not valid JSON: {error}; correct them, and answer again"
        )),
    }
}

/// Reads a value without losing anything.
struct Exact;

impl<'de> DeserializeSeed<'de> for Exact {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Exact {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).filter(|_| value.abs() < MAX_EXACT);
        let inexact =
            || E::custom("a number is too large to be kept exactly; write it as a text, if the tool takes one");
        number.map(Value::Number).ok_or_else(inexact)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(Self)?;
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!("the name {name:?} occurs twice")));
            }
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_read_as_they_are() {
        let text = r#" {"a": [1, -2, 0.5, 1e3, true, null, "\u202e"], "b": {"c": 18446744073709551615}} "#;
        let expected = json!({"a": [1, -2, 0.5, 1000.0, true, null, "\u{202e}"], "b": {"c": u64::MAX}});
        assert_eq!(Value::Object(object(text).unwrap()), expected);
    }

    #[test]
    fn what_would_be_lost_is_an_error() {
        for (text, part) in [
            ("", "not valid JSON"),
            ("{", "not valid JSON"),
            ("{} x", "trailing"),
            ("[1]", "must be a JSON object"),
            (r#"{"a": 1, "a": 1}"#, "occurs twice"),
            (r#"{"a": {"b": 1, "\u0062": 2}}"#, "occurs twice"),
            (r#"{"a": 18446744073709551616}"#, "too large"),
            (r#"{"a": [1e400]}"#, "not valid JSON"),
            (&*format!("{}1{}", "{\"a\":".repeat(500), "}".repeat(500)), "recursion"),
        ] {
            let error = object(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
