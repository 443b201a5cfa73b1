//! [`Found`]: the value that a type refuses.

use std::fmt;

use serde::de::Unexpected;

use crate::node::{Node, Value};

/// The number of characters of a text that are shown.
const SHOWN_CHARS: usize = 64;

/// The value that a type refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number, as a decimal text.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List,
    /// A table.
    Table,
    /// A value of none of these types, in the words of the type that refuses it.
    Other(String),
}

impl Found {
    pub(crate) fn of(node: &Node) -> Self {
        match &node.value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(text) => Self::Number(text.clone()),
            Value::Text(text) => Self::Text(text.clone()),
            Value::List(_) => Self::List,
            Value::Table(_) => Self::Table,
        }
    }

    pub(crate) fn of_unexpected(unexpected: &Unexpected<'_>) -> Self {
        match unexpected {
            Unexpected::Bool(value) => Self::Bool(*value),
            Unexpected::Unsigned(number) => Self::Number(number.to_string()),
            Unexpected::Signed(number) => Self::Number(number.to_string()),
            Unexpected::Float(number) => Self::Number(number.to_string()),
            Unexpected::Char(char) => Self::Text(char.to_string()),
            Unexpected::Str(text) => Self::Text((*text).to_owned()),
            Unexpected::Unit | Unexpected::Option => Self::Null,
            Unexpected::Seq => Self::List,
            Unexpected::Map => Self::Table,
            other => Self::Other(other.to_string()),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clipped = |text: &str| match text.char_indices().nth(SHOWN_CHARS) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        };
        match self {
            Self::Null => f.write_str("nothing"),
            Self::Bool(value) => value.fmt(f),
            Self::Number(text) => write!(f, "the number {}", clipped(text)),
            Self::Text(text) => write!(f, "the text {:?}", clipped(text)),
            Self::List => f.write_str("a list"),
            Self::Table => f.write_str("a table"),
            Self::Other(words) => f.write_str(words),
        }
    }
}
