//! Scalars of which servers have several ideas: numbers as text, text as numbers, `null` for nothing.

use std::{borrow::Cow, fmt};

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

/// Text; a number or a boolean is its text, anything else is nothing.
#[derive(Debug, Default)]
pub(crate) struct LooseText(pub(super) Text);

/// The same, and the address at which it stands in the input, when it stands there as it is.
#[cfg(any(feature = "anthropic", feature = "openai-responses"))]
#[derive(Debug, Default)]
pub(super) struct PlacedText(pub(super) Text, pub(super) Option<usize>);

/// The same as text of its own, for what is kept; nothing when it is empty.
#[cfg(feature = "openai-chat")]
#[derive(Debug, Default)]
pub(super) struct LooseString(pub(super) Option<String>);

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

impl<'de> Deserialize<'de> for LooseText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> de::Visitor<'de> for TextVisitor {
            type Value = LooseText;
            nothing!(LooseText);
            fn visit_str<E: de::Error>(self, text: &str) -> Result<LooseText, E> {
                Ok(LooseText(text.into()))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<LooseText, E> {
                Ok(LooseText(number.to_string().into()))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<LooseText, E> {
                Ok(LooseText(number.to_string().into()))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<LooseText, E> {
                Ok(LooseText(number.to_string().into()))
            }
            fn visit_bool<E: de::Error>(self, _: bool) -> Result<LooseText, E> {
                Ok(LooseText::default())
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

#[cfg(any(feature = "anthropic", feature = "openai-responses"))]
impl<'de> Deserialize<'de> for PlacedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> de::Visitor<'de> for TextVisitor {
            type Value = PlacedText;
            nothing!(PlacedText);
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<PlacedText, E> {
                Ok(PlacedText(text.into(), Some(text.as_ptr().addr())))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<PlacedText, E> {
                Ok(PlacedText(text.into(), None))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<PlacedText, E> {
                Ok(PlacedText(number.to_string().into(), None))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<PlacedText, E> {
                Ok(PlacedText(number.to_string().into(), None))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<PlacedText, E> {
                Ok(PlacedText(number.to_string().into(), None))
            }
            fn visit_bool<E: de::Error>(self, _: bool) -> Result<PlacedText, E> {
                Ok(PlacedText::default())
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

#[cfg(feature = "openai-chat")]
impl<'de> Deserialize<'de> for LooseString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StringVisitor;
        impl<'de> de::Visitor<'de> for StringVisitor {
            type Value = LooseString;
            nothing!(LooseString);
            fn visit_str<E: de::Error>(self, text: &str) -> Result<LooseString, E> {
                Ok(LooseString((!text.is_empty()).then(|| text.to_owned())))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<LooseString, E> {
                Ok(LooseString(Some(number.to_string())))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<LooseString, E> {
                Ok(LooseString(Some(number.to_string())))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<LooseString, E> {
                Ok(LooseString(Some(number.to_string())))
            }
            fn visit_bool<E: de::Error>(self, _: bool) -> Result<LooseString, E> {
                Ok(LooseString::default())
            }
        }
        deserializer.deserialize_any(StringVisitor)
    }
}

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
pub(crate) fn filled(text: Text) -> Option<Text> {
    (!text.is_empty()).then_some(text)
}

/// Text that is only looked at, borrowed from the input where it can be; anything else than text is nothing.
#[cfg(feature = "openai-responses")]
#[derive(Debug, Default)]
pub(crate) struct LooseStr<'de>(pub(crate) Cow<'de, str>);

#[cfg(feature = "openai-responses")]
impl<'de> Deserialize<'de> for LooseStr<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StrVisitor;
        impl<'de> de::Visitor<'de> for StrVisitor {
            type Value = LooseStr<'de>;
            nothing!(LooseStr<'de>);
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<LooseStr<'de>, E> {
                Ok(LooseStr(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<LooseStr<'de>, E> {
                Ok(LooseStr(Cow::Owned(text.to_owned())))
            }
            fn visit_bool<E: de::Error>(self, _: bool) -> Result<LooseStr<'de>, E> {
                Ok(LooseStr::default())
            }
            fn visit_u64<E: de::Error>(self, _: u64) -> Result<LooseStr<'de>, E> {
                Ok(LooseStr::default())
            }
            fn visit_i64<E: de::Error>(self, _: i64) -> Result<LooseStr<'de>, E> {
                Ok(LooseStr::default())
            }
            fn visit_f64<E: de::Error>(self, _: f64) -> Result<LooseStr<'de>, E> {
                Ok(LooseStr::default())
            }
        }
        deserializer.deserialize_any(StrVisitor)
    }
}
