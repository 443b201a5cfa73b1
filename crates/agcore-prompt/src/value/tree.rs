//! [`Value`]: a tree of data for templates.

use super::map::Map;

/// A [`Value`]'s fields in their order.
pub type Object = Map<Value>;

/// Data that a template can read.
///
/// Built from the usual Rust types by [`From`], from an [`Object`], from an iterator (an array), or from anything
/// serializable by [`Value::from_serialize`]. A value that several renders share is best built once, as a `Value`.
///
/// Printing it writes what a template would: text and numbers plainly, nothing for null, arrays and objects as JSON.
///
/// ```
/// use agcore_prompt::{Object, Value};
///
/// let value: Value = Object::new().with("tags", vec!["a", "b"]).with("n", 1.5).into();
/// assert_eq!(value.to_string(), r#"{"tags":["a","b"],"n":1.5}"#);
/// assert_eq!(value.get("n"), Some(&Value::Float(1.5)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Nothing; prints nothing.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number above `i64::MAX`; smaller ones are always an [`Integer`](Self::Integer).
    Unsigned(u64),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    String(String),
    /// Values in a row.
    Array(Vec<Value>),
    /// Values with names.
    Object(Object),
}

impl Value {
    /// The field of this name, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(object) => object.get(name),
            _ => None,
        }
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The elements, if this is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The fields, if this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }
}
