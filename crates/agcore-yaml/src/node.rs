//! [`Node`]: a value of a document, with its place.

use std::fmt;

use serde_json::{Map, Number};

/// A place in a document: line and column, both from 1; 0 if it is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Place {
    /// The start of a document.
    pub const START: Self = Self { line: 1, column: 1 };

    /// Creates a place.
    pub const fn new(line: usize, column: usize) -> Self {
        Self { line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A value of a document, with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The place at which the value begins.
    pub place: Place,
    /// The value.
    pub value: Value,
}

/// A value of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// The text of a decimal number, so that no digit is lost.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A table, with its members in the order of the document.
    Table(Vec<Member>),
}

/// A member of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The place of the key.
    pub place: Place,
    /// The key.
    pub name: String,
    /// The value.
    pub node: Node,
}

impl Node {
    /// The number of characters of a scalar that [`shown`](Self::shown) returns.
    const SHOWN_CHARS: usize = 64;

    /// Creates a node.
    pub fn new(place: Place, value: Value) -> Self {
        Self { place, value }
    }

    /// Returns the members of a table; none for other values.
    pub fn members(&self) -> &[Member] {
        match &self.value {
            Value::Table(members) => members,
            _ => &[],
        }
    }

    /// Returns a short description of the value for error messages.
    pub fn shown(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(text) => text.chars().take(Self::SHOWN_CHARS).collect(),
            Value::Text(text) => format!("{:?}", text.chars().take(Self::SHOWN_CHARS).collect::<String>()),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Table(members) => format!("a table with {} members", members.len()),
        }
    }

    /// Returns the value as JSON, without places. A number that JSON cannot represent becomes a text.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Number(text) => json_number(text),
            Value::Text(text) => text.as_str().into(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Table(members) => {
                let members = members
                    .iter()
                    .map(|member| (member.name.clone(), member.node.to_json()));
                serde_json::Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }
}

/// Returns the JSON form of a number, or its text if it has none.
fn json_number(text: &str) -> serde_json::Value {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    if let Ok(whole) = unsigned.parse::<i64>() {
        return whole.into();
    }
    if let Ok(whole) = unsigned.parse::<u64>() {
        return whole.into();
    }
    let number = unsigned.parse::<f64>().ok().and_then(Number::from_f64);
    number.map_or_else(|| text.into(), serde_json::Value::Number)
}
