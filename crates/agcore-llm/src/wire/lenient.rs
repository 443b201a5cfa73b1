//! Scalars of which servers have several ideas: numbers as text, text as numbers, `null` for nothing.

use std::{borrow::Cow, fmt, marker::PhantomData};

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, MapAccess, SeqAccess},
};
#[cfg(any(feature = "openai-chat", feature = "anthropic", feature = "ollama"))]
use serde_json::Value;

/// A member's name, borrowed from the input where it can be.
pub(crate) struct Name<'de>(Cow<'de, str>);

impl Name<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> de::Visitor<'de> for NameVisitor {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member's name")
            }
            fn visit_borrowed_str<E: de::Error>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

/// Passes over a member.
pub(crate) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(|_| ())
}

/// `null`, `""`, `[]` and `{}` mean that there is nothing new.
#[cfg(any(feature = "openai-chat", feature = "anthropic", feature = "ollama"))]
pub(crate) fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether this is no error, where a server writes one: nothing, `false`, 0, and an object of nothing but these.
#[cfg(feature = "openai-chat")]
pub(crate) fn is_no_error(value: &Value) -> bool {
    match value {
        Value::Bool(is_error) => !is_error,
        Value::Number(code) => code.as_i64() == Some(0),
        Value::Object(members) => members.values().all(is_no_error),
        other => says_nothing(other),
    }
}

/// For visitors of objects: what a server writes where there is none, in another shape, is none.
#[cfg(feature = "openai-chat")]
macro_rules! or_no_object {
    () => {
        fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
            $crate::wire::lenient::nothing_in(text.is_empty(), serde::de::Unexpected::Str(text), &self)
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let is_empty = seq.next_element::<serde::de::IgnoredAny>()?.is_none();
            $crate::wire::lenient::nothing_in(is_empty, serde::de::Unexpected::Seq, &self)
        }
    };
}
/// For visitors of lists: the same.
#[cfg(feature = "openai-chat")]
macro_rules! or_no_list {
    () => {
        fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
            $crate::wire::lenient::nothing_in(text.is_empty(), serde::de::Unexpected::Str(text), &self)
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let is_empty = map.next_key::<serde::de::IgnoredAny>()?.is_none();
            $crate::wire::lenient::nothing_in(is_empty, serde::de::Unexpected::Map, &self)
        }
    };
}
#[cfg(feature = "openai-chat")]
pub(super) use {or_no_list, or_no_object};

/// The default for what is empty; anything else has no business here.
#[cfg(feature = "openai-chat")]
pub(super) fn nothing_in<T: Default, E: de::Error>(
    is_empty: bool,
    found: de::Unexpected<'_>,
    expected: &dyn de::Expected,
) -> Result<T, E> {
    if is_empty {
        Ok(T::default())
    } else {
        Err(E::invalid_type(found, expected))
    }
}

/// Text; a number is its text, anything else is nothing.
#[cfg(any(feature = "anthropic", feature = "openai-responses", feature = "ollama"))]
#[derive(Debug, Default)]
pub(crate) struct LooseText(pub(super) Text);

/// Text that is not empty; a number is its text, anything else is nothing.
#[cfg(any(feature = "openai-chat", feature = "openai-responses", feature = "ollama"))]
#[derive(Debug, Default)]
pub(super) struct FilledText(pub(super) Option<Text>);

/// Text, and the address at which it stands in the input, when it stands there as it is.
#[cfg(any(feature = "anthropic", feature = "openai-responses"))]
#[derive(Debug, Default)]
pub(super) struct PlacedText(pub(super) Text, pub(super) Option<usize>);

/// The same as [`FilledText`], as text of its own for what is kept.
#[cfg(feature = "openai-chat")]
#[derive(Debug, Default)]
pub(super) struct LooseString(pub(super) Option<String>);

/// Text that is only looked at, borrowed from the input where it can be; anything else than text is nothing.
#[cfg(any(feature = "openai-chat", feature = "openai-responses"))]
#[derive(Debug, Default)]
pub(crate) struct LooseStr<'de>(pub(crate) Cow<'de, str>);

/// A count; text that is a number is that number, negative numbers and anything else are nothing.
#[derive(Debug, Default)]
pub(crate) struct LooseCount(pub(super) Option<u64>);

macro_rules! nothing {
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

/// What is made of text; its default is made of what is none.
trait OfText<'de>: Default {
    fn of_text(text: &str) -> Self;

    /// Of text that stands in the input as it is.
    fn of_input(text: &'de str) -> Self {
        Self::of_text(text)
    }

    fn of_number(number: impl ToString) -> Self {
        Self::of_text(&number.to_string())
    }
}

/// Reads what is made of text.
struct TextVisitor<T>(PhantomData<T>);

impl<'de, T: OfText<'de>> de::Visitor<'de> for TextVisitor<T> {
    type Value = T;
    nothing!(T);
    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<T, E> {
        Ok(T::of_input(text))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        Ok(T::of_text(text))
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        Ok(T::of_number(number))
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        Ok(T::of_number(number))
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        Ok(T::of_number(number))
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }
}

macro_rules! read_as_text {
    ($kind:ty) => {
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(TextVisitor(PhantomData))
            }
        }
    };
}

#[cfg(any(feature = "anthropic", feature = "openai-responses", feature = "ollama"))]
impl OfText<'_> for LooseText {
    fn of_text(text: &str) -> Self {
        Self(text.into())
    }
}
#[cfg(any(feature = "anthropic", feature = "openai-responses", feature = "ollama"))]
read_as_text!(LooseText);

#[cfg(any(feature = "openai-chat", feature = "openai-responses", feature = "ollama"))]
impl OfText<'_> for FilledText {
    fn of_text(text: &str) -> Self {
        Self((!text.is_empty()).then(|| text.into()))
    }
}
#[cfg(any(feature = "openai-chat", feature = "openai-responses", feature = "ollama"))]
read_as_text!(FilledText);

#[cfg(any(feature = "anthropic", feature = "openai-responses"))]
impl<'de> OfText<'de> for PlacedText {
    fn of_text(text: &str) -> Self {
        Self(text.into(), None)
    }

    fn of_input(text: &'de str) -> Self {
        Self(text.into(), Some(text.as_ptr().addr()))
    }
}
#[cfg(any(feature = "anthropic", feature = "openai-responses"))]
read_as_text!(PlacedText);

#[cfg(feature = "openai-chat")]
impl OfText<'_> for LooseString {
    fn of_text(text: &str) -> Self {
        Self((!text.is_empty()).then(|| text.to_owned()))
    }
}
#[cfg(feature = "openai-chat")]
read_as_text!(LooseString);

#[cfg(any(feature = "openai-chat", feature = "openai-responses"))]
impl<'de> OfText<'de> for LooseStr<'de> {
    fn of_text(text: &str) -> Self {
        Self(Cow::Owned(text.to_owned()))
    }

    fn of_input(text: &'de str) -> Self {
        Self(Cow::Borrowed(text))
    }

    fn of_number(_: impl ToString) -> Self {
        Self::default()
    }
}
#[cfg(any(feature = "openai-chat", feature = "openai-responses"))]
read_as_text!(LooseStr<'de>);

impl<'de> Deserialize<'de> for LooseCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;
        impl<'de> de::Visitor<'de> for CountVisitor {
            type Value = LooseCount;
            nothing!(LooseCount);
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<LooseCount, E> {
                Ok(LooseCount(Some(number)))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<LooseCount, E> {
                Ok(LooseCount(number.try_into().ok()))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<LooseCount, E> {
                // Counts as `12.0`; 2^53 is where a float stops to be exact.
                let is_count = number.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&number);
                Ok(LooseCount(is_count.then_some(number as u64)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<LooseCount, E> {
                Ok(LooseCount(text.trim().parse().ok()))
            }
            fn visit_bool<E: de::Error>(self, _: bool) -> Result<LooseCount, E> {
                Ok(LooseCount::default())
            }
        }
        deserializer.deserialize_any(CountVisitor)
    }
}

/// The text, unless it is empty.
#[cfg(feature = "anthropic")]
pub(crate) fn filled(text: Text) -> Option<Text> {
    (!text.is_empty()).then_some(text)
}
