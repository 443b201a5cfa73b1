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

impl Node {
    /// Returns the value as JSON.
    pub(super) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Plain(text) => plain(text),
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Table(members) => {
                let members = members
                    .iter()
                    .map(|member| (member.name.clone(), member.node.to_json()));
                Json::Object(members.collect())
            }
        }
    }
}

fn plain(text: &str) -> serde_json::Value {
    let lower = text.to_ascii_lowercase();
    let number = text.trim_start_matches('+');
    match (lower.as_str(), number.parse::<i64>(), number.parse::<f64>()) {
        ("true", ..) => true.into(),
        ("false", ..) => false.into(),
        (_, Ok(whole), _) => whole.into(),
        (_, _, Ok(fraction)) => fraction.into(),
        _ => text.into(),
    }
}
