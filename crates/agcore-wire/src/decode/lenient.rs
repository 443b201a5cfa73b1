//! Deserialization of values that servers encode inconsistently: numbers as strings, strings as numbers, `null` or an
//! empty value for something that is absent.

use std::{borrow::Cow, fmt, marker::PhantomData};

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{
        self, IgnoredAny, MapAccess, SeqAccess,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use serde_json::Value;

/// The name of an object's member, borrowed from the input if possible.
pub(crate) struct MemberName<'de>(Cow<'de, str>);

impl MemberName<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for MemberName<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> de::Visitor<'de> for NameVisitor {
            type Value = MemberName<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a member")
            }
            fn visit_borrowed_str<E: de::Error>(self, name: &'de str) -> Result<MemberName<'de>, E> {
                Ok(MemberName(Cow::Borrowed(name)))
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<MemberName<'de>, E> {
                Ok(MemberName(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

/// Skips the value of a member.
pub(crate) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(|_| ())
}

/// Returns whether a value is as good as absent: `null`, `""`, `[]` and `{}`.
pub(crate) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns whether the value of an `error` member reports no error: a blank value, `false`, 0, or an object that contains
/// nothing but such values.
pub(crate) fn is_absent_error(value: &Value) -> bool {
    match value {
        Value::Bool(is_error) => !is_error,
        Value::Number(code) => code.as_i64() == Some(0),
        Value::Object(members) => members.values().all(is_absent_error),
        other => is_blank(other),
    }
}

/// Text. A number becomes its digits; values of other types become empty text.
#[derive(Debug, Default)]
pub(crate) struct LenientText(pub(crate) Text);

/// Text, or `None` if it is empty. A number becomes its digits; values of other types become `None`.
#[derive(Debug, Default)]
pub(crate) struct NonEmptyText(pub(crate) Option<Text>);

/// Text of an answer, as `T` reads text. A value of another type becomes its JSON text, and a blank one empty text.
#[derive(Debug, Default)]
pub(crate) struct AnswerText<T>(pub(crate) T);

/// Text, and the part of the input that contains it.
#[derive(Debug, Default)]
pub(crate) struct LocatedText<'de> {
    pub(crate) text: Text,
    /// The same text, borrowed from the input; `None` if it has escapes there.
    pub(crate) source: Option<&'de str>,
}

/// Text that is only inspected, borrowed from the input if possible. Values of other types become empty text.
#[derive(Debug, Default)]
pub(crate) struct LenientStr<'de>(pub(crate) Cow<'de, str>);

/// A count. Text that contains a number is parsed; negative numbers and values of other types become `None`.
#[derive(Debug, Default)]
pub(crate) struct LenientCount(pub(crate) Option<u64>);

/// For visitors of scalars: accepts `null`, arrays and objects as the default value.
macro_rules! or_default {
    ($value:ty) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any value")
        }
        fn visit_unit<E: de::Error>(self) -> Result<$value, E> {
            Ok(<$value>::default())
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<$value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(<$value>::default())
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(<$value>::default())
        }
    };
}

/// A type that is deserialized from text. Its default stands for values of other types.
trait FromText<'de>: Default {
    fn from_text(text: &str) -> Self;

    /// Converts text that is borrowed from the input.
    fn from_input(text: &'de str) -> Self {
        Self::from_text(text)
    }

    fn from_number(number: impl ToString) -> Self {
        Self::from_text(&number.to_string())
    }
}

struct TextVisitor<T>(PhantomData<T>);

impl<'de, T: FromText<'de>> de::Visitor<'de> for TextVisitor<T> {
    type Value = T;
    or_default!(T);
    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<T, E> {
        Ok(T::from_input(text))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        Ok(T::from_text(text))
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        Ok(T::from_number(number))
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        Ok(T::from_number(number))
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        Ok(T::from_number(number))
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }
}

macro_rules! deserialize_from_text {
    ($kind:ty) => {
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(TextVisitor(PhantomData))
            }
        }
    };
}

struct AnswerVisitor<T>(PhantomData<T>);

impl<'de, T: FromText<'de>> de::Visitor<'de> for AnswerVisitor<T> {
    type Value = AnswerText<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<AnswerText<T>, E> {
        Ok(AnswerText(T::from_input(text)))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<AnswerText<T>, E> {
        Ok(AnswerText(T::from_text(text)))
    }
    fn visit_unit<E: de::Error>(self) -> Result<AnswerText<T>, E> {
        Ok(AnswerText(T::default()))
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<AnswerText<T>, E> {
        Ok(AnswerText(T::from_number(value)))
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<AnswerText<T>, E> {
        Ok(AnswerText(T::from_number(number)))
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<AnswerText<T>, E> {
        Ok(AnswerText(T::from_number(number)))
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<AnswerText<T>, E> {
        Ok(AnswerText(T::from_number(number)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<AnswerText<T>, A::Error> {
        let value = Value::deserialize(SeqAccessDeserializer::new(seq))?;
        Ok(AnswerText(T::from_text(&answer_text(value))))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<AnswerText<T>, A::Error> {
        let value = Value::deserialize(MapAccessDeserializer::new(map))?;
        Ok(AnswerText(T::from_text(&answer_text(value))))
    }
}

impl<'de, T: FromText<'de>> Deserialize<'de> for AnswerText<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnswerVisitor(PhantomData))
    }
}

/// Returns the text of a value where an API has the text of an answer: a text as it is, another value as JSON text. Empty
/// for a blank value.
pub(crate) fn answer_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        blank if is_blank(&blank) => String::new(),
        value => value.to_string(),
    }
}

impl FromText<'_> for LenientText {
    fn from_text(text: &str) -> Self {
        Self(text.into())
    }
}
deserialize_from_text!(LenientText);

impl FromText<'_> for NonEmptyText {
    fn from_text(text: &str) -> Self {
        Self((!text.is_empty()).then(|| text.into()))
    }
}
deserialize_from_text!(NonEmptyText);

impl<'de> FromText<'de> for LocatedText<'de> {
    fn from_text(text: &str) -> Self {
        Self {
            text: text.into(),
            source: None,
        }
    }

    fn from_input(text: &'de str) -> Self {
        Self {
            text: text.into(),
            source: Some(text),
        }
    }
}
deserialize_from_text!(LocatedText<'de>);

impl<'de> FromText<'de> for LenientStr<'de> {
    fn from_text(text: &str) -> Self {
        Self(Cow::Owned(text.to_owned()))
    }

    fn from_input(text: &'de str) -> Self {
        Self(Cow::Borrowed(text))
    }

    fn from_number(_: impl ToString) -> Self {
        Self::default()
    }
}
deserialize_from_text!(LenientStr<'de>);

impl<'de> Deserialize<'de> for LenientCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;
        impl<'de> de::Visitor<'de> for CountVisitor {
            type Value = LenientCount;
            or_default!(LenientCount);
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<LenientCount, E> {
                Ok(LenientCount(Some(number)))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<LenientCount, E> {
                Ok(LenientCount(number.try_into().ok()))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<LenientCount, E> {
                // Some servers write `12.0`. Floats represent integers exactly up to 2^53.
                let is_count = number.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&number);
                Ok(LenientCount(is_count.then_some(number as u64)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<LenientCount, E> {
                Ok(LenientCount(text.trim().parse().ok()))
            }
            fn visit_bool<E: de::Error>(self, _: bool) -> Result<LenientCount, E> {
                Ok(LenientCount::default())
            }
        }
        deserializer.deserialize_any(CountVisitor)
    }
}

/// Returns the text, or `None` if it is empty.
pub(crate) fn non_empty(text: Text) -> Option<Text> {
    (!text.is_empty()).then_some(text)
}
