//! [`Node`]: a value of a document, with its place.

use std::fmt;

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
    pub(crate) fn new(line: usize, column: usize) -> Self {
        Self { line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A value of a TOML or YAML document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// The text of a number, so that no digit is lost.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Member>),
}

/// A member of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) node: Node,
}

impl Node {
    pub(crate) fn new(place: Place, value: Value) -> Self {
        Self { place, value }
    }

    /// Returns the value as errors show it.
    pub(crate) fn shown(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(text) => text.chars().take(64).collect(),
            Value::Text(text) => format!("{:?}", text.chars().take(64).collect::<String>()),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Table(members) => format!("a table with {} members", members.len()),
        }
    }
}
