//! [`RawArguments`]: the arguments of a call as the model wrote them.

mod skim;

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, LazyLock, OnceLock},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{Map, Value};

use self::skim::Skim;
use crate::object::Member;

/// The arguments of a call as the model wrote them: JSON text that never changes, not yet checked.
///
/// Cheap to clone. All clones share what is found out about the text: it is checked at most once and made a [`Value`] at
/// most once, when somebody asks. Use it as a `&str`; two are equal when their texts are.
#[derive(Clone, Default)]
pub struct RawArguments(Option<Arc<Written>>);

/// Text that is not empty, and what is known of it.
struct Written {
    text: String,
    /// Whether it is one JSON object, without a look at anything else that it may be.
    is_object: OnceLock<bool>,
    /// What it is, or what the parser said.
    value: OnceLock<Result<Value, String>>,
}

/// Why text cannot be used as arguments.
pub(super) enum Unfit {
    /// Not JSON, or not whole; what the parser said.
    NotJson(String),
    /// JSON, but no object; what it is instead.
    NotAnObject(&'static str),
}

/// No arguments at all are the empty object.
static EMPTY: LazyLock<Result<Value, String>> = LazyLock::new(|| Ok(Value::Object(Map::new())));

impl RawArguments {
    /// The text as the model wrote it.
    pub fn as_str(&self) -> &str {
        self.0.as_ref().map_or("", |written| &written.text)
    }

    /// The object that the text is, as a value, or none. No text and `null` are the empty object.
    pub fn as_value(&self) -> Option<&Value> {
        self.value().as_ref().ok().filter(|value| value.is_object())
    }

    /// Reads the object into a type. What somebody has looked at is what is read: only while nobody has asked for the
    /// [value](Self::as_value), the text is read without making it first.
    ///
    /// # Errors
    /// The text is no JSON object, or does not fit the type.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        match &self.0 {
            Some(written) if written.value.get().is_none() && written.is_object() => {
                serde_json::from_str(&written.text)
            }
            _ => T::deserialize(self.as_value().unwrap_or(&Value::Null)),
        }
    }

    /// The object that the text is.
    pub(super) fn object(&self) -> Result<&Map<String, Value>, Unfit> {
        Err(Unfit::NotAnObject(match self.value() {
            Ok(Value::Object(object)) => return Ok(object),
            Ok(Value::Array(_)) => "an array",
            Ok(Value::String(_)) => "a string",
            Ok(Value::Number(_)) => "a number",
            Ok(Value::Bool(_)) => "a boolean",
            Ok(Value::Null) => "null",
            Err(why) => return Err(Unfit::NotJson(why.clone())),
        }))
    }

    /// Whether there is an object; does not make it where there is one.
    pub(super) fn check(&self) -> Result<(), Unfit> {
        match &self.0 {
            Some(written) if !written.is_object() => self.object().map(drop),
            _ => Ok(()),
        }
    }

    fn value(&self) -> &Result<Value, String> {
        match &self.0 {
            None => &EMPTY,
            Some(written) => written.value.get_or_init(|| parse(&written.text)),
        }
    }
}

impl Written {
    fn new(text: String, value: OnceLock<Result<Value, String>>) -> Self {
        Self {
            text,
            is_object: OnceLock::new(),
            value,
        }
    }

    fn is_object(&self) -> bool {
        let skim = || self.text.trim_start().starts_with('{') && serde_json::from_str::<Skim>(&self.text).is_ok();
        *self.is_object.get_or_init(skim)
    }
}

fn parse(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return EMPTY.clone();
    }
    match serde_json::from_str(text) {
        Ok(Value::Null) => EMPTY.clone(),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

impl From<String> for RawArguments {
    fn from(text: String) -> Self {
        Self((!text.is_empty()).then(|| Arc::new(Written::new(text, OnceLock::new()))))
    }
}

impl From<&str> for RawArguments {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for RawArguments {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

/// Written as compact JSON text.
impl From<Map<String, Value>> for RawArguments {
    fn from(object: Map<String, Value>) -> Self {
        let object = Value::Object(object);
        Self(Some(Arc::new(Written::new(object.to_string(), Ok(object).into()))))
    }
}

impl Deref for RawArguments {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for RawArguments {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawArguments {}

impl fmt::Debug for RawArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl Member for RawArguments {}

impl Serialize for RawArguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

/// Some servers send an object instead of a string; it is kept as its compact JSON text.
impl<'de> Deserialize<'de> for RawArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)? {
            Value::String(text) => text.into(),
            Value::Null => Self::default(),
            other => other.to_string().into(),
        })
    }
}
