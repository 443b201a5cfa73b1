//! [`Data`]: what the renderer needs to know of a value, be it a tree or a snapshot.

use super::{
    name::Mark,
    tree::{Object, Value},
};

/// One value as the renderer sees it; `D` is the value itself again, where it has parts.
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

/// A cheap handle on a value that lives for `'v`.
pub(crate) trait Data<'v>: Copy {
    /// What the value is.
    fn view(self) -> View<'v, Self>;

    /// The part of an object or an array that the segment names.
    fn part(self, segment: &Segment) -> Option<Self>;

    /// The parts of an object (with their names) or of an array; none of anything else.
    fn parts(self) -> impl Iterator<Item = (Option<&'v str>, Self)>;

    /// How many parts there are.
    fn len(self) -> usize;
}

/// One step of a path: a name, which is also an index when it is all digits.
#[derive(Debug)]
pub(crate) struct Segment {
    name: Box<str>,
    mark: Mark,
    index: Option<usize>,
}

impl Segment {
    pub(crate) fn new(name: &str) -> Self {
        let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        Self {
            name: name.into(),
            mark: Mark::new(name),
            index: if digits { name.parse().ok() } else { None },
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The index, if the name is one.
    pub(crate) fn index(&self) -> Option<usize> {
        self.index
    }
}

impl<D> View<'_, D> {
    /// The kind of value, with its article, for errors.
    pub(crate) fn kind(&self) -> &'static str {
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
    /// Whether a condition on this value holds.
    pub(crate) fn is_true(&self) -> bool {
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
            Value::Object(object) => object.get_marked(&segment.name, segment.mark),
            Value::Array(elements) => elements.get(segment.index()?),
            _ => None,
        }
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
