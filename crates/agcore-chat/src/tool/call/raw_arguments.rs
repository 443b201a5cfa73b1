//! [`RawArguments`]: the arguments of a call as the model wrote them.

mod syntax;

use std::{
    fmt,
    ops::Deref,
    sync::{
        Arc, LazyLock, OnceLock,
        atomic::{AtomicU8, Ordering},
    },
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{Map, Value};

use self::syntax::Syntax;
use crate::object::Member;

/// The arguments of a call as the model wrote them: immutable JSON text that is not yet validated.
///
/// Cheap to clone. The text is validated at most once and parsed into a [`Value`] at most once, on demand; all clones
/// share the results. Dereferences to `str`; comparisons consider only the text.
///
/// ```
/// use agcore_chat::RawArguments;
///
/// #[derive(serde::Deserialize)]
/// struct Trip {
///     city: String,
/// }
///
/// let arguments = RawArguments::from(r#"{"city": "Paris"}"#);
/// assert_eq!(arguments.read::<Trip>()?.city, "Paris");
/// assert!(RawArguments::from("[1]").as_value().is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct RawArguments(Option<Arc<Source>>);

/// A text that is not empty or an object, and the cached results of examining it.
struct Source {
    text: SourceText,
    /// Whether the text is one JSON object.
    is_object: IsObject,
    /// The parsed text, or the message of the parser.
    value: OnceLock<Result<Value, String>>,
}

enum SourceText {
    Given(String),
    /// The text of an object, written when it is first needed.
    Written(OnceLock<String>),
}

/// The cached answer to a question. Cheaper than a `OnceLock`: threads that ask at the same time all find the answer themselves.
#[derive(Default)]
struct IsObject(AtomicU8);

impl IsObject {
    const UNKNOWN: u8 = 0;
    const NO: u8 = 1;
    const YES: u8 = 2;

    fn get_or_init(&self, check: impl FnOnce() -> bool) -> bool {
        match self.0.load(Ordering::Relaxed) {
            Self::UNKNOWN => {
                let is_object = check();
                self.0
                    .store(if is_object { Self::YES } else { Self::NO }, Ordering::Relaxed);
                is_object
            }
            known => known == Self::YES,
        }
    }
}

/// The reason a text cannot be used as arguments.
pub(super) enum InvalidArguments {
    /// Not JSON, or truncated; with the message of the parser.
    NotJson(String),
    /// JSON, but not an object; with a description of what it is instead.
    NotAnObject(&'static str),
}

/// The value of arguments that are absent: the empty object.
static EMPTY: LazyLock<Result<Value, String>> = LazyLock::new(|| Ok(Value::Object(Map::new())));

impl RawArguments {
    /// Returns the text as the model wrote it.
    pub fn as_str(&self) -> &str {
        self.0.as_ref().map_or("", |source| source.text())
    }

    /// Returns the text as a JSON object, or `None` if it is not one. Empty text and `null` are the empty object.
    pub fn as_value(&self) -> Option<&Value> {
        self.value().as_ref().ok().filter(|value| value.is_object())
    }

    /// Returns the object if it was already built: the arguments were made from it, or [`as_value`](Self::as_value) was
    /// called. Otherwise the text is there to be read.
    pub fn built(&self) -> Option<&Map<String, Value>> {
        self.0.as_ref()?.value.get()?.as_ref().ok()?.as_object()
    }

    /// Deserializes the object into a type.
    ///
    /// Reads the text directly, unless the [value](Self::as_value) was already built: then `T` is read from that value,
    /// so that it sees exactly what was inspected before.
    ///
    /// # Errors
    /// If the text is not a JSON object, or does not match the type.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        match &self.0 {
            Some(source) if source.value.get().is_none() && source.is_object() => serde_json::from_str(source.text()),
            _ => T::deserialize(self.as_value().unwrap_or(&Value::Null)),
        }
    }

    /// Returns the text as an object.
    pub(super) fn object(&self) -> Result<&Map<String, Value>, InvalidArguments> {
        Err(InvalidArguments::NotAnObject(match self.value() {
            Ok(Value::Object(object)) => return Ok(object),
            Ok(Value::Array(_)) => "an array",
            Ok(Value::String(_)) => "a string",
            Ok(Value::Number(_)) => "a number",
            Ok(Value::Bool(_)) => "a boolean",
            Ok(Value::Null) => "null",
            Err(message) => return Err(InvalidArguments::NotJson(message.clone())),
        }))
    }

    /// Checks that the text is an object, without building it.
    pub(super) fn check(&self) -> Result<(), InvalidArguments> {
        match &self.0 {
            Some(source) if !source.is_object() => self.object().map(drop),
            _ => Ok(()),
        }
    }

    fn value(&self) -> &Result<Value, String> {
        match &self.0 {
            None => &EMPTY,
            Some(source) => source.value.get_or_init(|| parse(source.text())),
        }
    }
}

impl Source {
    fn from_text(text: String) -> Self {
        Self {
            text: SourceText::Given(text),
            is_object: IsObject::default(),
            value: OnceLock::new(),
        }
    }

    fn from_object(object: Map<String, Value>) -> Self {
        Self {
            text: SourceText::Written(OnceLock::new()),
            is_object: IsObject(IsObject::YES.into()),
            value: Ok(Value::Object(object)).into(),
        }
    }

    fn text(&self) -> &str {
        match &self.text {
            SourceText::Given(text) => text,
            SourceText::Written(text) => text.get_or_init(|| match self.value.get() {
                Some(Ok(value)) => value.to_string(),
                _ => String::new(),
            }),
        }
    }

    fn is_object(&self) -> bool {
        let check = || self.text().trim_start().starts_with('{') && serde_json::from_str::<Syntax>(self.text()).is_ok();
        self.is_object.get_or_init(check)
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
        Self((!text.is_empty()).then(|| Arc::new(Source::from_text(text))))
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

/// The text is the object as compact JSON. It is made when it is needed first.
impl From<Map<String, Value>> for RawArguments {
    fn from(object: Map<String, Value>) -> Self {
        Self(Some(Arc::new(Source::from_object(object))))
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

/// Some servers send an object instead of a string; it is stored as compact JSON text.
impl<'de> Deserialize<'de> for RawArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)? {
            Value::String(text) => text.into(),
            Value::Null => Self::default(),
            other => other.to_string().into(),
        })
    }
}
