//! YAML documents without aliases: a flow file is written by hand, and an alias could stand for any amount of data.

use agcore_yaml::Limits;

use super::node::{Member, Node, Place, Value};

/// The deepest nesting of lists and tables.
const MAX_DEPTH: usize = 32;

/// Reads a document, or returns what is wrong and where.
pub(super) fn parse(text: &str) -> Result<Node, (Place, String)> {
    let limits = Limits::default().with_max_depth(MAX_DEPTH).without_aliases();
    match agcore_yaml::parse(text, &limits) {
        Ok(Some(root)) => Ok(node(root)),
        Ok(None) => Err((place(agcore_yaml::Place::START), "the file is empty".to_owned())),
        Err(error) => Err((place(error.place), error.problem)),
    }
}

fn place(place: agcore_yaml::Place) -> Place {
    Place {
        line: place.line,
        column: place.column,
    }
}

fn node(node: agcore_yaml::Node) -> Node {
    let value = match node.value {
        agcore_yaml::Value::Null => Value::Null,
        agcore_yaml::Value::Bool(value) => Value::Plain(value.to_string()),
        agcore_yaml::Value::Number(text) => Value::Plain(text),
        agcore_yaml::Value::Text(text) => Value::Text(text),
        agcore_yaml::Value::List(items) => Value::List(items.into_iter().map(self::node).collect()),
        agcore_yaml::Value::Table(members) => Value::Table(members.into_iter().map(member).collect()),
    };
    Node {
        place: place(node.place),
        value,
    }
}

fn member(member: agcore_yaml::Member) -> Member {
    Member {
        place: place(member.place),
        name: member.name,
        node: node(member.node),
    }
}
