//! [`Node`]: a value of a YAML document, with its place.

/// A line and a column, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    /// A scalar without quotes that is not a text: a number or a truth value, as it is written.
    Plain(String),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Member>),
}

/// A member of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) node: Node,
}
