//! [`Node`]: a value of a document, with its place.

use serde_json::Map;

use crate::{number, place::Place};

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

    /// Returns the member of a table with a name.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members().iter().find(|member| member.name == name)
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

    /// Returns the value as JSON, without places. Integers that need more than 64 bits lose digits, as in other JSON readers, and a
    /// number that JSON cannot represent becomes a text.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Number(text) => number::to_json(text),
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

/// Returns the number of bytes of all names and texts in a value.
pub(crate) fn bytes_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 0,
        Value::Number(text) | Value::Text(text) => text.len(),
        Value::List(items) => items.iter().map(|item| bytes_of(&item.value)).sum(),
        Value::Table(members) => members
            .iter()
            .map(|member| member.name.len() + bytes_of(&member.node.value))
            .sum(),
    }
}
