//! [`Value`]: a tree of data that templates read.

use super::map::Map;

/// The maximum nesting depth of a value that is serialized. Deeper ones are almost certainly infinitely recursive.
pub(super) const MAX_DEPTH: usize = 128;

/// The fields of a [`Value`] object, in insertion order.
pub type Object = Map<Value>;

/// Data that a template can read.
///
/// Values convert from common Rust types and from [`Object`], are collected into arrays from iterators, and are built from
/// any serializable type with [`Value::from_serialize`]. Build a context that is rendered many times only once, as a
/// `Value`.
///
/// [`Display`](std::fmt::Display) prints the value as a template does: strings and numbers as they are, nothing for null,
/// arrays and objects as JSON. A value of any depth can be rendered, copied and dropped, but is serialized only up to 128
/// levels. Because of its destructor, content cannot be moved out by a pattern; [`std::mem::take`] it instead.
///
/// ```
/// use agcore_prompt::{Object, Value};
///
/// let value: Value = Object::new().with("tags", vec!["a", "b"]).with("n", 1.5).into();
/// assert_eq!(value.to_string(), r#"{"tags":["a","b"],"n":1.5}"#);
/// assert_eq!(value.get("n"), Some(&Value::Float(1.5)));
/// ```
#[derive(Default)]
#[non_exhaustive]
pub enum Value {
    /// The null value, which prints nothing.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Integer(i64),
    /// An integer above `i64::MAX`. Smaller integers are always an [`Integer`](Self::Integer).
    Unsigned(u64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    String(String),
    /// An array of values.
    Array(Vec<Value>),
    /// An object with named fields.
    Object(Object),
}

impl Value {
    /// Returns the field with this name, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(object) => object.get(name),
            _ => None,
        }
    }

    /// Returns the text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the elements, if this is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the fields, if this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }
}
