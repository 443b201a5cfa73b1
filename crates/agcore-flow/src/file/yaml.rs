//! YAML documents.

use agcore_document::Format;

use super::node::{Member, Node, Place, Value};

/// Reads a document, or returns what is wrong and where.
pub(super) fn parse(text: &str) -> Result<Node, (Place, String)> {
    let root = Format::Yaml
        .parse(text)
        .map_err(|error| (place(error.place), error.kind.to_string()))?;
    match &root.value {
        agcore_document::Value::Table(members) if members.is_empty() => {
            Err((place(root.place), "the file is empty".to_owned()))
        }
        _ => Ok(node(root)),
    }
}

fn place(place: agcore_document::Place) -> Place {
    Place {
        line: place.line,
        column: place.column,
    }
}

fn node(node: agcore_document::Node) -> Node {
    let value = match node.value {
        agcore_document::Value::Null => Value::Null,
        agcore_document::Value::Bool(value) => Value::Plain(value.to_string()),
        agcore_document::Value::Number(text) => Value::Plain(text),
        agcore_document::Value::Text(text) => Value::Text(text),
        agcore_document::Value::List(items) => Value::List(items.into_iter().map(self::node).collect()),
        agcore_document::Value::Table(members) => Value::Table(members.into_iter().map(member).collect()),
    };
    Node {
        place: place(node.place),
        value,
    }
}

fn member(member: agcore_document::Member) -> Member {
    Member {
        place: place(member.place),
        name: member.name,
        node: node(member.node),
    }
}
