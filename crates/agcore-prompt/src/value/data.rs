//! [`Data`]: the interface through which the renderer reads trees and snapshots.

use super::{
    fingerprint::Fingerprint,
    tree::{Object, Value},
};

/// The type and content of a value. Containers hold the handle `D`, through which their parts are accessed.
pub(crate) enum View<'v, D> {
    Null,
    Bool(bool),
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    Text(&'v str),
    Array(D),
    Object(D),
}

/// A cheap handle to a value that lives for `'v`.
pub(crate) trait Data<'v>: Copy {
    /// Returns the type and content of the value.
    fn view(self) -> View<'v, Self>;

    /// Returns the field of an object or the element of an array that the segment refers to.
    fn part(self, segment: &Segment) -> Option<Self>;

    /// Returns the number of extra steps that [`part`](Self::part) takes because of the number of parts.
    fn search_steps(self) -> u64;

    /// Returns the fields of an object with their names, or the elements of an array. Other values have no parts.
    fn parts(self) -> impl Iterator<Item = (Option<&'v str>, Self)>;

    /// Returns the number of parts.
    fn len(self) -> usize;
}

/// A segment of a path: a name, which is also an index if it consists of digits.
#[derive(Debug)]
pub(crate) struct Segment {
    name: Box<str>,
    fingerprint: Fingerprint,
    index: Option<usize>,
}

impl Segment {
    pub(crate) fn new(name: &str) -> Self {
        let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        Self {
            name: name.into(),
            fingerprint: Fingerprint::new(name),
            index: if digits { name.parse().ok() } else { None },
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the index, if the name is one.
    pub(crate) fn index(&self) -> Option<usize> {
        self.index
    }
}

impl<D> View<'_, D> {
    /// Returns the type of the value with its article, for error messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) | Self::Unsigned(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Text(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

impl<'v, D: Data<'v>> View<'v, D> {
    /// Returns whether a condition on this value is true.
    pub(crate) fn is_truthy(&self) -> bool {
        match *self {
            Self::Null => false,
            Self::Bool(flag) => flag,
            Self::Integer(number) => number != 0,
            Self::Unsigned(number) => number != 0,
            Self::Float(number) => number != 0.0 && number.is_finite(),
            Self::Text(text) => !text.is_empty(),
            Self::Array(data) | Self::Object(data) => data.len() > 0,
        }
    }
}

impl<'v> Data<'v> for &'v Value {
    #[inline(always)]
    fn view(self) -> View<'v, Self> {
        match self {
            Value::Null => View::Null,
            Value::Bool(flag) => View::Bool(*flag),
            Value::Integer(number) => View::Integer(*number),
            Value::Unsigned(number) => View::Unsigned(*number),
            Value::Float(number) => View::Float(*number),
            Value::String(text) => View::Text(text),
            Value::Array(_) => View::Array(self),
            Value::Object(_) => View::Object(self),
        }
    }

    #[inline(always)]
    fn part(self, segment: &Segment) -> Option<Self> {
        match self {
            Value::Object(object) => object.get_with_fingerprint(&segment.name, segment.fingerprint),
            Value::Array(elements) => elements.get(segment.index()?),
            _ => None,
        }
    }

    /// Small objects are scanned, large ones have an index.
    #[inline(always)]
    fn search_steps(self) -> u64 {
        0
    }

    fn parts(self) -> impl Iterator<Item = (Option<&'v str>, Self)> {
        let elements = self.as_array().unwrap_or_default().iter().map(|value| (None, value));
        let fields = self.as_object().into_iter().flat_map(Object::iter);
        elements.chain(fields.map(|(name, value)| (Some(name), value)))
    }

    fn len(self) -> usize {
        match self {
            Value::Array(elements) => elements.len(),
            Value::Object(object) => object.len(),
            _ => 0,
        }
    }
}
