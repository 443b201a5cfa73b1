//! Conversions from Rust types into [`Value`].

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::tree::{Object, Value};

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl From<$type> for Value {
            fn from(number: $type) -> Self {
                Self::Integer(number.into())
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 u8 u16 u32);

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Unsigned(number), Self::Integer)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::from(number as u64)
    }
}

impl From<isize> for Value {
    fn from(number: isize) -> Self {
        Self::Integer(number as i64)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<f32> for Value {
    fn from(number: f32) -> Self {
        Self::Float(widen(number))
    }
}

/// Returns the `f64` that prints like the `f32`: 0.1 instead of 0.10000000149011612.
pub(super) fn widen(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| number.into())
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Self::Null
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::String(text.clone())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<Box<str>> for Value {
    fn from(text: Box<str>) -> Self {
        Self::String(text.into())
    }
}

impl From<Arc<str>> for Value {
    fn from(text: Arc<str>) -> Self {
        Self::from(&*text)
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Self::String(text.into_owned())
    }
}

impl From<char> for Value {
    fn from(character: char) -> Self {
        Self::String(character.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(elements: Vec<T>) -> Self {
        elements.into_iter().collect()
    }
}

impl<T: Into<Self>, const N: usize> From<[T; N]> for Value {
    fn from(elements: [T; N]) -> Self {
        elements.into_iter().collect()
    }
}

impl<T: Clone + Into<Self>> From<&[T]> for Value {
    fn from(elements: &[T]) -> Self {
        elements.iter().cloned().collect()
    }
}

/// Collects the items into an array.
impl<T: Into<Self>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self::Array(elements.into_iter().map(Into::into).collect())
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl<N: Into<Arc<str>>, V: Into<Self>> From<BTreeMap<N, V>> for Value {
    fn from(entries: BTreeMap<N, V>) -> Self {
        Self::Object(entries.into_iter().collect())
    }
}

/// Sorts the fields by name. A hash map has no stable order, and a prompt must be the same each time.
impl<N: Into<Arc<str>>, V: Into<Self>, S> From<HashMap<N, V, S>> for Value {
    fn from(entries: HashMap<N, V, S>) -> Self {
        let mut entries: Vec<(Arc<str>, V)> = entries.into_iter().map(|(name, value)| (name.into(), value)).collect();
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Self::Object(entries.into_iter().collect())
    }
}

impl From<&serde_json::Number> for Value {
    fn from(number: &serde_json::Number) -> Self {
        let integer = number
            .as_i64()
            .map(Self::Integer)
            .or_else(|| number.as_u64().map(Self::Unsigned));
        integer
            .or_else(|| number.as_f64().map(Self::Float))
            .unwrap_or(Self::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: impl Into<Value>, json: &str) {
        let value = value.into();
        assert_eq!(serde_json::to_string(&value).unwrap(), json);
        assert_eq!(
            Value::from(serde_json::from_str::<serde_json::Value>(json).unwrap()),
            value
        );
    }

    #[test]
    fn converts_common_types() {
        check((), "null");
        check(true, "true");
        check(-7i8, "-7");
        check(u64::MAX, "18446744073709551615");
        check(i64::MIN, "-9223372036854775808");
        check(3usize, "3");
        check(0.1f32, "0.1");
        check(1.0, "1.0");
        check("a\"b", r#""a\"b""#);
        check('ü', "\"ü\"");
        check(Some("x"), "\"x\"");
        check(None::<i32>, "null");
        check(vec![1, 2], "[1,2]");
        check([Some(1), None], "[1,null]");
        check(&["a"][..], r#"["a"]"#);
        check(BTreeMap::from([("b", 1), ("a", 2)]), r#"{"a":2,"b":1}"#);
        check(HashMap::from([("b", 1), ("a", 2), ("c", 3)]), r#"{"a":2,"b":1,"c":3}"#);
        check(
            Object::new().with("z", 1).with("a", vec![Object::new()]),
            r#"{"z":1,"a":[{}]}"#,
        );
    }
}
